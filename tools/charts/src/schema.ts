/** The part of JSON Schema that the charts' values are written in. */
export interface ValuesSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, ValuesSchema>>;
  readonly items?: ValuesSchema;
}

/** The values of a service's chart: what every service has, and the settings of this one. */
export function serviceSchema(shared: ValuesSchema, settings: ValuesSchema): ValuesSchema {
  return { ...shared, properties: { ...shared.properties, settings } };
}
