import type { Identity } from "./identity.ts";

/** A request that an owner answers itself, because its answer is made of several members' answers. */
export interface OwnedRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly path: string;
  header(name: string): string | undefined;
  readonly identity: Identity;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** The whole body. Throws 413 as a Kubernetes Status if it is longer than 3 MiB. */
  body(): Promise<Buffer>;
}

/** The response to it. `head` is called once, then `write` any number of times, then `end`. */
export interface OwnedResponse {
  /** Headers alternate names and values. */
  head(status: number, headers: readonly string[]): void;
  /** Resolves when the client can receive more. */
  write(part: Buffer | string): Promise<void>;
  end(): void;
}

/** Where requests are answered from several members. The gateway asks it first. */
export interface OwnerAnswers {
  /** Undefined: the request goes to the own cluster as received. */
  answer(request: OwnedRequest): ((response: OwnedResponse) => Promise<void>) | undefined;
}
