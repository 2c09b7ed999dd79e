/** A path of the Kubernetes API that names a collection or an object. */
export interface ApiPath {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, such as `deployments`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  /** Undefined for a collection. */
  readonly name: string | undefined;
  /** What follows the name, such as `scale` or `log`. */
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

/** Words after a Namespace's name that are parts of the Namespace itself and not kinds in it. */
const PARTS_OF_A_NAMESPACE: readonly string[] = ["status", "finalize"];

/** Undefined for discovery, health and all else that is no collection or object, and for the old `/watch/` paths. */
export function parseApiPath(pathAndQuery: string): ApiPath | undefined {
  const [path, query] = withoutQuery(pathAndQuery);
  const words = decoded(path);
  if (words === undefined) return undefined;
  const [root, ...rest] = words;
  const start = root === "api" ? ["", ...rest] : root === "apis" ? rest : undefined;
  if (start === undefined) return undefined;
  const [group, version, ...place] = start;
  if (group === undefined || version === undefined || place[0] === undefined || place[0] === "watch") return undefined;
  return {
    group,
    version,
    ...placeOf(place),
    query: new URLSearchParams(query),
  };
}

/** What stands before the first `?`, and all that follows it: a query may have more of them. */
export function withoutQuery(pathAndQuery: string): readonly [path: string, query: string] {
  const mark = pathAndQuery.indexOf("?");
  return mark === -1 ? [pathAndQuery, ""] : [pathAndQuery.slice(0, mark), pathAndQuery.slice(mark + 1)];
}

function placeOf(words: readonly string[]): Pick<ApiPath, "resource" | "namespace" | "name" | "subresource"> {
  const [first = "", second, third] = words;
  const inNamespace = first === "namespaces" && third !== undefined && !PARTS_OF_A_NAMESPACE.includes(third);
  const [resource = "", name, ...subresource] = inNamespace ? words.slice(2) : words;
  return {
    resource,
    namespace: inNamespace ? second : undefined,
    name,
    subresource: subresource.length === 0 ? undefined : subresource.join("/"),
  };
}

function decoded(path: string): readonly string[] | undefined {
  try {
    return path
      .split("/")
      .filter((word) => word !== "")
      .map((word) => decodeURIComponent(word));
  } catch {
    return undefined;
  }
}

/** An object among those of all kinds: `Deployment default/web`. The name of a POST is in its body. */
export function objectKey(kind: string, { namespace, name }: ApiPath, posted?: string): string {
  return `${kind} ${namespace ?? ""}/${name ?? posted ?? ""}`;
}

/** The path of an object, or of its collection if `name` is undefined. */
export function pathOf(
  place: Pick<ApiPath, "group" | "version" | "resource" | "namespace" | "name"> & {
    readonly subresource?: string | undefined;
  },
  query?: URLSearchParams,
): string {
  const root = place.group === "" ? ["api"] : ["apis", place.group];
  const space = place.namespace === undefined ? [] : ["namespaces", place.namespace];
  const words = [...root, place.version, ...space, place.resource, place.name, place.subresource];
  const path = words.filter((word) => word !== undefined).map((word) => encodeURIComponent(word));
  const asked = query?.toString() ?? "";
  return `/${path.join("/").replaceAll("%2F", "/")}${asked === "" ? "" : `?${asked}`}`;
}
