import type { KubeObject, ObjectName } from "./object.ts";

/** `namespace/name`, or `name` alone for a cluster-scoped type. Unique within one type. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return nameKey({ namespace, name: name ?? "" });
}

export function nameKey({ namespace, name }: ObjectName): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The inverse of `nameKey`, exact because neither part can contain a slash. */
export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
