import type { Fields } from "../json.ts";
import { noSuchPath } from "../status.ts";
import { apiVersionOf, type ResourceType } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";

/**
 * The documents under /openapi/v3, as far as kubectl asks them: which types take `fieldValidation` and `dryRun`, so
 * that it leaves validation to the server. They hold no schemas; undefined if the path is not about them.
 */
export function openApi(types: TypeRegistry, path: string): Fields | string | undefined {
  const [root, version, ...rest] = path.split("/").slice(1);
  // kubectl reads the older document as protobuf, of which nothing at all is a valid one that knows no type.
  if (path === "/openapi/v2") return "";
  if (root !== "openapi" || version !== "v3") return undefined;
  const roots = new Map(types.all().map((type) => [rootOf(type), apiVersionOf(type)]));
  if (rest.length === 0) {
    const paths = [...roots.keys()].map((each) => [each, { serverRelativeURL: `/openapi/v3/${each}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  const own = types.all().filter((type) => rootOf(type) === rest.join("/") && !type.review);
  if (!roots.has(rest.join("/"))) throw noSuchPath();
  const info = { title: "Kubernetes, simulated", version: "v1.36.3" };
  return { openapi: "3.0.0", info, components: {}, paths: Object.fromEntries(own.map(pathOf)) };
}

/** `api/v1` or `apis/apps/v1`. */
function rootOf({ group, version }: ResourceType): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function pathOf(type: ResourceType): [string, Fields] {
  const { group, version, kind, plural, namespaced } = type;
  const query = (name: string): Fields => ({ name, in: "query", schema: { type: "string", uniqueItems: true } });
  const patch = {
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group, version, kind },
    parameters: [query("dryRun"), query("fieldManager"), query("fieldValidation")],
    responses: { 200: { description: "OK" } },
  };
  return [`/${rootOf(type)}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}/{name}`, { patch }];
}
