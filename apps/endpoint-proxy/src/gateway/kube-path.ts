/** A request for objects of the Kubernetes API, as RBAC sees it. */
export interface ResourceRequest {
  readonly kind: "resource";
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** In the plural. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly verb: Verb;
}

/** A request for anything else: discovery, openapi, version, health. */
export interface PathRequest {
  readonly kind: "path";
  readonly path: string;
  /** The method in lower case. */
  readonly verb: string;
}

export type KubeRequest = ResourceRequest | PathRequest;

export type Verb =
  "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" | "unsupported";

const verbs: Readonly<Record<string, Verb>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** Subresources that connect the client with a pod, a Service or a kubelet. */
const CONNECTS: readonly string[] = ["proxy", "exec", "attach", "portforward"];

/**
 * What a method and a path with its query ask for, read as kube-apiserver reads it. Undefined if the path could be read
 * in two ways: with an empty or a relative segment, an escaped slash, or an escape that is not UTF-8.
 */
export function kubeRequest(method: string, target: string): KubeRequest | undefined {
  const at = target.indexOf("?");
  const path = at < 0 ? target : target.slice(0, at);
  const parts = segmentsOf(path);
  if (parts === undefined) return undefined;
  const start = startOf(parts);
  if (start === undefined || parts.length <= start) return { kind: "path", path, verb: method.toLowerCase() };
  const { namespace, resource, name, subresource } = scopeOf(parts, start);
  if (resource === undefined) return { kind: "path", path, verb: method.toLowerCase() };
  const isWatchPath = parts[start] === "watch" && parts.length > start + 1;
  const verb = isWatchPath ? "watch" : verbOf(method, name, at < 0 ? "" : target.slice(at + 1));
  const group = start === 2 ? "" : (parts[1] as string);
  const version = parts[start - 1] as string;
  return { kind: "resource", group, version, resource, subresource, namespace, name, verb };
}

/**
 * Whether an answer lasts as long as the client wants: watches, followed logs and connections to pods. Such requests
 * have no deadline, and do not count as in flight. Objects and collections themselves are never upgraded.
 */
export function isLongRunning(request: KubeRequest, target: string, upgrades: boolean): boolean {
  if (request.kind === "path") return upgrades;
  const { verb, subresource = "" } = request;
  if (verb === "watch" || (upgrades && subresource !== "")) return true;
  if (subresource === "log") return isSet(new URLSearchParams(splitOnce(target, "?")[1]).get("follow"));
  return CONNECTS.includes(subresource);
}

/** Whether a request, even a GET, runs something behind the API server: a command in a pod, or a program's own API. */
export function isConnect(method: string, target: string): boolean {
  const request = kubeRequest(method, target);
  return request?.kind === "resource" && CONNECTS.includes(request.subresource ?? "");
}

/** The name in `/clusters/<name>/…`, and the path and query of the Kubernetes API behind it. */
export interface ClusterPath {
  readonly cluster: string;
  readonly path: string;
}

/** Undefined if the path names no cluster. */
export function clusterPath(target: string): ClusterPath | undefined {
  if (!target.startsWith("/clusters/")) return undefined;
  const [, name, path] = /^\/clusters\/([^/?]+)((?:[/?].*)?)$/s.exec(target) ?? [];
  if (name === undefined || path === undefined) return undefined;
  return { cluster: decoded(name) ?? name, path: path.startsWith("/") ? path : `/${path}` };
}

function segmentsOf(path: string): string[] | undefined {
  const parts: string[] = [];
  const from = path.startsWith("/") ? 1 : 0;
  for (const part of path.slice(from, path.endsWith("/") ? Math.max(from, path.length - 1) : undefined).split("/")) {
    // Behind the subresource `proxy` is a path of the pod, Service or node, which has rules of its own.
    if (parts.at(-1) === "proxy" && isProxied(parts)) return parts;
    const text = decoded(part);
    if (text === undefined || text === "." || text === ".." || text.includes("/")) return undefined;
    if (text === "" && path !== "/" && path !== "") return undefined;
    parts.push(text);
  }
  return parts;
}

/** Where the segments of a resource begin, behind the group and the version; undefined for other paths. */
function startOf(parts: readonly string[]): number | undefined {
  return parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : undefined;
}

/** Whether segments name the subresource `proxy`: a namespace or an object may have that name too. */
function isProxied(parts: readonly string[]): boolean {
  const start = startOf(parts);
  return start !== undefined && scopeOf(parts, start).subresource === "proxy";
}

interface Scope {
  readonly namespace: string | undefined;
  readonly resource: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** `start` is where the segments of a resource begin. */
function scopeOf(parts: readonly string[], start: number): Scope {
  const at = parts[start] === "watch" && parts.length > start + 1 ? start + 1 : start;
  const isNamespace = parts[at] === "namespaces";
  const third = parts[at + 2];
  // `namespaces/x/status` and `/finalize` are parts of the namespace; any other third segment is a collection in it.
  const base = isNamespace && third !== undefined && third !== "status" && third !== "finalize" ? at + 2 : at;
  return {
    namespace: isNamespace ? parts[at + 1] : undefined,
    resource: parts[base],
    name: parts[base + 1],
    subresource: parts[base + 2],
  };
}

function verbOf(method: string, name: string | undefined, query: string): Verb {
  if (method === "DELETE" && name === undefined) return "deletecollection";
  const written = verbs[method];
  if (written) return written;
  if (method !== "GET" && method !== "HEAD") return "unsupported";
  if (query !== "" && isSet(new URLSearchParams(query).get("watch"))) {
    // Like kube-apiserver: a watch of one object is a watch by its name. With a name in the path, `watch` is ignored.
    return name === undefined ? "watch" : "get";
  }
  return name === undefined ? "list" : "get";
}

/** How kube-apiserver reads a boolean: present is true, unless it says otherwise. */
function isSet(value: string | null): boolean {
  return value !== null && !["false", "0", "f"].includes(value.toLowerCase());
}

function decoded(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
