import { randomUUID } from "node:crypto";
import type { Exchange } from "@evenkeel/forward";
import type { Clock } from "@evenkeel/runtime";
import type { AuditLog } from "./audit-log.ts";
import type { Caller } from "./authentication/user-authenticator.ts";
import { BadPath, BodyTooLarge, ForgedHeader, TooManyRequests } from "./errors.ts";
import { type InFlight, kindOf } from "./in-flight.ts";
import { isLongRunning, kubeRequest, type KubeRequest } from "./kube-path.ts";
import { RequestRefused } from "./request-refused.ts";

/** Maximum bytes of a request's body, as in kube-apiserver. */
export const BODY_LIMIT = 3 * 1024 * 1024;

/** Seconds after which a client retries if too many requests are in flight. */
const RETRY_AFTER = 1;

/** Headers that say who asks. Only this program writes them towards members. */
export const IDENTITY_HEADERS = {
  names: ["authorization"],
  prefixes: ["impersonate-", "x-remote-", "evenkeel-"],
};

const FORBIDDEN: readonly string[] = [...IDENTITY_HEADERS.names, ...IDENTITY_HEADERS.prefixes];

export interface GatewayRequestOptions {
  readonly clock: Clock;
  readonly inFlight: InFlight;
  readonly audit: AuditLog;
}

/** One request from its head to its line in the audit log. */
export class GatewayRequest {
  readonly exchange: Exchange;
  readonly auditId: string;
  /** What is asked of the Kubernetes API; undefined until `read`. */
  request: KubeRequest | undefined;
  /** Path and query of the Kubernetes API. */
  path = "";
  isLongRunning = false;
  caller: Caller | undefined;
  /** Names of the members that are asked. */
  members: readonly string[] = [];
  code: string | undefined;
  readonly #options: GatewayRequestOptions;
  readonly #since: number;
  readonly #leave: (() => void)[] = [];
  #holdsBody = false;
  #isOver = false;

  constructor(exchange: Exchange, options: GatewayRequestOptions) {
    this.exchange = exchange;
    this.#options = options;
    this.#since = options.clock.monotonic();
    const given = exchange.header("audit-id");
    this.auditId = given !== undefined && /^[\w-]{1,64}$/.test(given) ? given : randomUUID();
  }

  /** Checks the head as far as it can be without knowing who asks. Throws `RequestRefused`. */
  read(path: string): KubeRequest {
    const { exchange } = this;
    this.path = path;
    this.request = kubeRequest(exchange.method, path);
    if (this.request === undefined) throw new RequestRefused(400, new BadPath({ fault: "it is ambiguous" }));
    this.isLongRunning = isLongRunning(this.request, path, exchange.upgrade !== undefined);
    if (!this.hasOwnBodyRules && Number(exchange.header("content-length") ?? 0) > BODY_LIMIT) {
      throw new RequestRefused(413, new BodyTooLarge({ limit: BODY_LIMIT }));
    }
    return this.request;
  }

  /** Takes a slot for a request that is bounded in time. Throws `RequestRefused`. */
  enter(): void {
    if (this.isLongRunning) return;
    const { method } = this.exchange;
    this.#keep(this.#options.inFlight.enter(method), kindOf(method));
  }

  /** Takes room for the whole body: of its announced length, or of the longest one. Throws `RequestRefused`. */
  holdBody(): void {
    if (!this.exchange.hasBody || this.#holdsBody) return;
    const length = Number(this.exchange.header("content-length") ?? BODY_LIMIT);
    this.#keep(this.#options.inFlight.hold(Math.min(length, BODY_LIMIT)), "bytes of bodies");
    this.#holdsBody = true;
  }

  #keep(leave: (() => void) | undefined, what: string): void {
    if (leave && this.#isOver) leave();
    else if (leave) this.#leave.push(leave);
    else {
      const error = new TooManyRequests({ what, seconds: RETRY_AFTER });
      throw new RequestRefused(429, error, { retryAfterSeconds: RETRY_AFTER });
    }
  }

  /** What a program in a pod, a Service or a kubelet is asked through the API server, which knows no limit for it. */
  get hasOwnBodyRules(): boolean {
    return this.request?.kind === "resource" && this.request.subresource === "proxy";
  }

  /** Whether the length of the body is only known when it has been read. */
  get isUnmeasured(): boolean {
    const { hasBody, upgrade } = this.exchange;
    return hasBody && upgrade === undefined && this.exchange.header("content-length") === undefined;
  }

  /** Frees the slot and writes the line. `status` is 0 if the client disconnected before. */
  end(status: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const leave of this.#leave) leave();
    const { auditId, request, members, code, caller, exchange } = this;
    const { listener, method, sentBytes: bytes } = exchange;
    const identity = caller?.identity;
    const actor = caller?.actor;
    const peer = caller?.peer;
    const since = this.#since;
    this.#options.audit.write({
      auditId,
      listener,
      method,
      identity,
      actor,
      peer,
      request,
      members,
      status,
      code,
      bytes,
      since,
    });
  }
}

/**
 * Refuses headers that only endpoint-proxy itself may send, and their names in `Connection`, by which a proxy is told
 * to drop them. `allowed` are the prefixes that are read on this port.
 */
export function checkForgery(exchange: Exchange, allowed: readonly string[]): void {
  const { headers } = exchange;
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    if (name === "connection") {
      const named = (headers[index + 1] as string).toLowerCase().split(",");
      const hit = named.map((one) => one.trim()).find((one) => forbiddenPrefix(one) !== undefined);
      if (hit !== undefined) throw new RequestRefused(400, new ForgedHeader({ header: `Connection: ${hit}` }));
    } else {
      const prefix = forbiddenPrefix(name);
      if (prefix !== undefined && !allowed.includes(prefix)) {
        throw new RequestRefused(403, new ForgedHeader({ header: name }));
      }
    }
  }
}

/** How a header begins that says who asks; undefined for all others. */
function forbiddenPrefix(name: string): string | undefined {
  for (const prefix of FORBIDDEN) if (name.startsWith(prefix)) return prefix;
  return undefined;
}
