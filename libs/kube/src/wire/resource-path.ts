import { BadName } from "../errors.ts";
import type { ResourceType } from "../objects/object.ts";

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: ResourceType): string {
  return group === "" ? version : `${group}/${version}`;
}

/** `/api/v1` or `/apis/apps/v1`. */
export function rootPath({ group, version }: ResourceType): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** A name as a part of a path. Names that would lead to another path are refused. */
export function pathSegment(verb: string, resource: string, kind: "name" | "namespace", name: string): string {
  if (name === "" || name === "." || name === ".." || /[/%]/.test(name)) {
    throw new BadName({ verb, resource, fault: `${JSON.stringify(name)} cannot be a ${kind}` });
  }
  return encodeURIComponent(name);
}
