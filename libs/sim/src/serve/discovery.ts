import type { Fields } from "../json.ts";
import { noSuchPath } from "../status.ts";
import { apiVersionOf, type ResourceType } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";

const VERSION = { major: "1", minor: "36", gitVersion: "v1.36.3+evenkeel-sim" };

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const podParts = [
  { name: "eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  { name: "binding", kind: "Binding", verbs: ["create"] },
  { name: "log", kind: "Pod", verbs: ["get"] },
  { name: "exec", kind: "PodExecOptions", verbs: ["create", "get"] },
  { name: "attach", kind: "PodAttachOptions", verbs: ["create", "get"] },
  { name: "portforward", kind: "PodPortForwardOptions", verbs: ["create", "get"] },
];
const tokenPart = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", verbs: ["create"] };
const PART_VERBS = ["get", "patch", "update"];

/** What the server says of itself at a path; undefined if the path is not about that. */
export function discover(types: TypeRegistry, path: string): Fields | string | undefined {
  const [root, ...rest] = path.split("/").slice(1);
  if (root === "version")
    return {
      ...VERSION,
      platform: "linux/amd64",
      goVersion: "none",
      compiler: "none",
      gitCommit: "",
      gitTreeState: "clean",
      buildDate: "1970-01-01T00:00:00Z",
    };
  if (root === "healthz" || root === "livez" || root === "readyz") return "ok";
  const [first, second] = rest;
  if (root === "api") {
    if (first === undefined) return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
    return second === undefined ? resourceList(types, "", first) : undefined;
  }
  if (root !== "apis" || rest.length > 2) return undefined;
  const groups = groupsOf(types);
  if (first === undefined) return { kind: "APIGroupList", apiVersion: "v1", groups };
  if (second !== undefined) return resourceList(types, first, second);
  const group = groups.find(({ name }) => name === first);
  if (group === undefined) throw noSuchPath();
  return { kind: "APIGroup", apiVersion: "v1", ...group };
}

function groupsOf(types: TypeRegistry): { name: string; versions: object[]; preferredVersion: object }[] {
  const names = [...new Set(types.all().map(({ group }) => group))].filter((group) => group !== "");
  return names.map((name) => {
    const versions = [
      ...new Set(
        types
          .all()
          .filter(({ group }) => group === name)
          .map(({ version }) => version),
      ),
    ];
    const shown = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: shown, preferredVersion: shown[0] ?? {} };
  });
}

function resourceList(types: TypeRegistry, group: string, version: string): Fields {
  const own = types.all().filter((type) => type.group === group && type.version === version);
  if (own.length === 0) throw noSuchPath();
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf({ group, version }),
    resources: own.flatMap(entries),
  };
}

function verbsOf({ review, computed }: ResourceType): readonly string[] {
  if (computed !== undefined) return ["get", "list"];
  return review ? ["create"] : VERBS;
}

/** The entry of a type, then those of its parts. */
export function entries(type: ResourceType): Fields[] {
  const { plural, singular, kind, namespaced, shortNames, categories } = type;
  const extra = { ...(shortNames.length > 0 ? { shortNames } : {}), ...(categories.length > 0 ? { categories } : {}) };
  const part = (name: string, own: Fields = {}): Fields => ({
    ...{ name: `${plural}/${name}`, singularName: "", namespaced, kind, verbs: PART_VERBS, ...own },
  });
  return [
    { name: plural, singularName: singular, namespaced, kind, verbs: verbsOf(type), ...extra },
    ...(type.status === false ? [] : [part("status")]),
    ...(type.scale === undefined ? [] : [part("scale", { group: "autoscaling", version: "v1", kind: "Scale" })]),
    ...(plural === "pods" && type.group === "" ? podParts.map(({ name, ...own }) => part(name, own)) : []),
    ...(plural === "serviceaccounts" ? [part("token", tokenPart)] : []),
  ];
}
