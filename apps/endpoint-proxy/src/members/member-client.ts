import type { Origin } from "@evenkeel/forward";
import type { Identity } from "../gateway/identity.ts";
import type { Member } from "./member.ts";

/** How a request reaches a member as a given user. */
export interface Reach {
  readonly origin: Origin;
  readonly host: string;
  /** In front of the path of the Kubernetes API; empty unless the server has a path. */
  readonly prefix: string;
  /** Alternating names (in lower case) and values: who asks, and by which right this proxy says so. Never log them. */
  readonly headers: readonly string[];
  /** Called if the server answers 401: what this proxy authenticates itself with is replaced. */
  readonly refused?: () => void;
}

/**
 * The only way to a member. There is none without an identity: the own cluster's API server is asked by impersonation,
 * a peer's proxy by mTLS with the identity in headers.
 */
export interface MemberAccess {
  reach(member: Member, identity: Identity): Promise<Reach>;
}

export interface MemberRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";
  /** Path and query of the Kubernetes API. */
  readonly path: string;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly body?: Buffer | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds until the head of the answer. */
  readonly deadline?: number | undefined;
}

/** What a member answered. `body` must be read or cancelled. */
export interface MemberAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Texts of its `Warning` headers, without code and agent. */
  readonly warnings: readonly string[];
  /** Seconds after which to ask again (`Retry-After`), with 429 and 503. */
  readonly retryAfter?: number | undefined;
  readonly body: AsyncIterable<Buffer>;
  /** The whole body. Throws if it is longer than `limit` bytes. */
  read(limit: number): Promise<Buffer>;
  cancel(): void;
}

/** Asks members, for answers that are made of several. Throws `MemberUnreachable` if there is no answer. */
export interface MemberClient {
  ask(member: Member, identity: Identity, request: MemberRequest): Promise<MemberAnswer>;
}
