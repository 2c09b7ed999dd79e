import { badRequest, noSuchPath } from "../status.ts";
import type { ResourceType } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";

/** What a path names. */
export interface Route {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  /** Absent for the collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Parts of a namespace itself, not types of objects within it. */
const NAMESPACE_PARTS = new Set(["status", "finalize"]);

/** Reads a path of resources. Fails with NotFound if it names none that is served. */
export function parseRoute(types: TypeRegistry, path: string): Route {
  const [root, ...all] = path.split("/").slice(1).map(decoded);
  const [group, version, ...rest] = root === "api" ? ["", ...all] : root === "apis" ? all : [];
  if (group === undefined || version === undefined) throw noSuchPath();
  const [first, namespace, plural] = rest;
  const within = first === "namespaces" && plural !== undefined && !(rest.length === 3 && NAMESPACE_PARTS.has(plural));
  const [resource, name, subresource, ...more] = within ? rest.slice(2) : rest;
  const type = types.find(group, version, resource ?? "");
  if (type === undefined || more.length > 0 || type.namespaced !== within) {
    // Objects of all namespaces are listed together; one object is in one.
    if (type === undefined || !type.namespaced || name !== undefined || more.length > 0) throw noSuchPath();
  }
  return { type, namespace: within ? namespace : undefined, name, subresource };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`the path holds ${segment}, which is no valid escape`);
  }
}
