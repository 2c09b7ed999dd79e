import type { Clock, Logger } from "@evenkeel/runtime";
import type { Identity } from "./identity.ts";
import type { KubeRequest, ResourceRequest } from "./kube-path.ts";

/** What is known of a request when it has ended. */
export interface AuditedRequest {
  readonly auditId: string;
  readonly listener: string;
  readonly method: string;
  /** Undefined if the client could not be authenticated. */
  readonly identity: Identity | undefined;
  /** The user that authenticated, if it acts for another one. */
  readonly actor: string | undefined;
  /** The peer through which the request came. */
  readonly peer: string | undefined;
  /** Undefined if the path could not be read. */
  readonly request: KubeRequest | undefined;
  /** Names of the clusters that were asked. */
  readonly members: readonly string[];
  /** 0 if the client disconnected before. */
  readonly status: number;
  /** Of a refusal. */
  readonly code: string | undefined;
  /** Of the response's body; 0 for tunnels. */
  readonly bytes: number;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** Writes one line for each request. It has no bodies, no headers and no queries, which may hold tokens. */
export class AuditLog {
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Fields that are undefined are not in the line. */
  write(entry: AuditedRequest): void {
    const { auditId, listener, method, identity, actor, peer, request, members, status, code, bytes } = entry;
    const ms = Math.round(this.#clock.monotonic() - entry.since);
    const about = request?.kind === "resource" ? request : undefined;
    const line = {
      auditId,
      listener,
      user: identity?.user,
      actor,
      peer,
      verb: request === undefined ? method.toLowerCase() : request.verb,
      path: request?.kind === "path" ? request.path : undefined,
      resource: about && resourceOf(about),
      namespace: about?.namespace,
      name: about?.name,
      members,
      status,
      ms,
      bytes,
      code,
    };
    this.#log.info({ request: line }, "request");
  }
}

/** Such as `deployments/scale.apps`. */
function resourceOf({ group, resource, subresource }: ResourceRequest): string {
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return group === "" ? kind : `${kind}.${group}`;
}
