/** The part of JSON Schema that the charts' values are written in. */
export interface ValuesSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, ValuesSchema>>;
  readonly items?: ValuesSchema;
}

/** The schema of a service's values: those of every service, its settings, and further values of its own. */
export function serviceSchema(shared: ValuesSchema, settings: ValuesSchema, own: ValuesSchema = {}): ValuesSchema {
  return { ...shared, properties: { ...shared.properties, settings, ...own.properties } };
}
