import type { Duplex, Readable } from "node:stream";
import type { Failure, Forward } from "../destination.ts";
import type { Exchange } from "../exchange.ts";

/**
 * One try to get a response from an origin. It reports to the exchange with the methods of `Asker`, and nothing after
 * `abort`.
 */
export interface Try {
  /** Whether it has a connection. Until then nothing was sent. */
  readonly connected: boolean;
  /** Releases the resources of the try. The upstream sees its connection or stream end. */
  abort(): void;
  /** The client can receive more of the response: called after `chunk` returned false. */
  resume(): void;
  /** The body may be sent although the upstream has not sent `100 Continue`. */
  sendBody(): void;
}

/** The exchange, as a try sees it. */
export interface Asker extends Exchange {
  /** The body of the request. Only one try reads it, and once. */
  readonly body: Readable;
  /** Whether the client waits for `100 Continue` before it sends a body. */
  readonly expectsContinue: boolean;
  /** The declared length of the body; -1 if there is none. */
  readonly bodyLength: number;
  /** Whether the body that ended is complete: an HTTP/2 stream that is reset ends too. */
  bodyWhole(): boolean;
  /** Trailers of the request, after the body: alternating names and values. */
  bodyTrailers(): readonly string[];
  /** A part of the body was read, so the request cannot be sent again. */
  bodyTaken(): void;
  /** The upstream sent `100 Continue`. */
  continued(): void;
  /** An interim response other than 100 and 101. */
  interim(status: number, headers: string[]): void;
  /** The head of the response. `complete`: nothing follows, not even trailers. */
  answer(status: number, text: string, headers: string[], complete: boolean): void;
  /** A part of the response body. False pauses the body until `resume`. `sent` is called when it was written. */
  chunk(data: Buffer, sent?: (error?: Error | null) => void): boolean;
  /** The response is complete. */
  complete(trailers: readonly string[] | undefined): void;
  /** The upstream accepted the upgrade. `head` is the data that it has sent so far. */
  upgraded(status: number, text: string, headers: readonly string[], socket: Duplex, head: Buffer): void;
  /** The request cannot be written; nothing was sent. */
  unsendable(error: Error): void;
  /**
   * No response, or an incomplete one. `sent`: some of the request may have reached the upstream. `code` is the HTTP/2
   * reset code.
   */
  failed(kind: Failure["kind"], error: Error, sent: boolean, code?: number): void;
}

/** The input of a try. */
export interface Ask {
  readonly asker: Asker;
  readonly forward: Forward;
  readonly path: string;
  readonly host: string;
  /** Alternating names and values, without Host and framing. */
  readonly headers: string[];
}
