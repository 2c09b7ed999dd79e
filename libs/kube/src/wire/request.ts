import type { Readable } from "node:stream";
import type { Verb } from "./kube-metrics.ts";
import type { CallOptions } from "../objects/resource.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Which connections a request uses. `calls` share a few. `urgent` calls, such as the renewal of a lease, have their own
 * and are not rate limited. Each of `streams` holds a connection for as long as it lasts.
 */
export type Lane = "calls" | "urgent" | "streams";

export interface ResourceOptions {
  /** `urgent` separates a resource's calls from all others, so that no slow list delays them. Default `calls`. */
  readonly lane?: "calls" | "urgent";
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** A request to the API server. */
export interface KubeRequest extends CallOptions {
  readonly method?: Method;
  /** Starts with `/`, such as `/api/v1/namespaces/default/pods/web/log`; without a query. */
  readonly path: string;
  /** Parameters that are undefined are left out. */
  readonly query?: Query;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, with `contentType`. A stream cannot be sent twice, so such a request is never retried. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** The verb in metrics and messages; default `other`. */
  readonly verb?: Verb;
  /** The object in messages, such as `pods default/web`; default the path. */
  readonly what?: string;
  /** Carrying it out twice has the same effect as once. Default true for GET, PUT and DELETE. */
  readonly idempotent?: boolean;
  readonly lane?: Lane;
}

/** A response whose body is read as it arrives. The caller reads it to its end or destroys it. */
export interface KubeStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** The call in messages. */
  readonly call: string;
}

/** `get pods default/web at https://10.96.0.1`: the start of a message. */
export function callName(request: KubeRequest, server: string): string {
  const { verb, what, method = "GET", path } = request;
  return `${verb === undefined ? method : verb} ${what ?? path} at ${server}`;
}

/** The path with its query. */
export function requestTarget({ path, query = {} }: KubeRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

export function isIdempotent({ idempotent, method = "GET" }: KubeRequest): boolean {
  return idempotent ?? (method === "GET" || method === "PUT" || method === "DELETE");
}
