import type { KubeObject, ResourceType } from "./object.ts";

/** Names one object, as an Event names the object that it is about. `kubectl describe` finds Events by `uid`. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** The reference to an object of the type; undefined for an object that is not found. */
export function referenceOf(
  { group, version, kind }: ResourceType,
  object: KubeObject | undefined,
): ObjectReference | undefined {
  if (!object) return undefined;
  const { namespace, name = "", uid = "" } = object.metadata;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name, uid };
}
