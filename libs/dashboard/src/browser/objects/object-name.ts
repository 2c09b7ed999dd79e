/** What tells an object of a kind from the others, in JSON. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name`. */
export function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`;
}
