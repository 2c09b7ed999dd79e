/** The unique name of an object of a kind, in JSON. */
export interface ObjectName {
  /** Empty for an object of the cluster. */
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name`, or the name alone for an object of the cluster. */
export function keyOf({ namespace, name }: ObjectName): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
