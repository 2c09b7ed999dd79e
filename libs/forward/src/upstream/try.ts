import type { Duplex, Readable } from "node:stream";
import type { Failure, Forward } from "../destination.ts";
import type { Exchange } from "../exchange.ts";

/** One try to get an answer from an origin. It tells the exchange what happens by the methods of `Asker`, and nothing after `abort`. */
export interface Try {
  /** Whether there is a connection for it. Until then nothing was sent. */
  readonly connected: boolean;
  /** Frees what the try holds; the upstream sees its connection or stream end. */
  abort(): void;
  /** The client takes more of the answer: called after `chunk` said no. */
  resume(): void;
  /** The body may be sent although the upstream has not said `100 Continue`. */
  sendBody(): void;
}

/** Who asks, seen from a try. */
export interface Asker extends Exchange {
  /** The body of the request; it is read by a try alone, and once. */
  readonly body: Readable;
  /** The client sends no body before it is told to. */
  readonly expectsContinue: boolean;
  /** What the body's length is said to be; -1 if it is not said. */
  readonly bodyLength: number;
  /** Whether the body that has ended is all of it: a stream of HTTP/2 that is reset ends too. */
  bodyWhole(): boolean;
  /** Trailers of the request, once the body has ended: alternating names and values. */
  bodyTrailers(): readonly string[];
  /** A part of the body was taken from the client, so that the request cannot be sent again. */
  bodyTaken(): void;
  /** The upstream wants the body. */
  continued(): void;
  /** An interim answer other than 100 and 101. */
  interim(status: number, headers: string[]): void;
  /** The head of the answer. `complete` says that nothing follows, not even trailers. */
  answer(status: number, text: string, headers: string[], complete: boolean): void;
  /** A part of the answer's body. False pauses the body until `resume`. */
  chunk(data: Buffer): boolean;
  /** The answer is complete. */
  complete(trailers: readonly string[] | undefined): void;
  /** The upstream agreed to speak something else; `head` is what it has said of that so far. */
  upgraded(status: number, text: string, headers: readonly string[], socket: Duplex, head: Buffer): void;
  /** The request cannot be written; nothing was sent. */
  unsendable(error: Error): void;
  /** No answer, or not all of it. `sent` says whether anything of the request may have reached the upstream. `code` is the reset code of HTTP/2. */
  failed(kind: Failure["kind"], error: Error, sent: boolean, code?: number): void;
}

/** What a try is made of. */
export interface Ask {
  readonly asker: Asker;
  readonly forward: Forward;
  readonly path: string;
  readonly host: string;
  /** Alternating names and values, without Host and framing. */
  readonly headers: string[];
}
