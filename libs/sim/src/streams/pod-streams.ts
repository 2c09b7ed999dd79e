import type { IncomingMessage } from "node:http";
import type { Duplex, Readable, Writable } from "node:stream";

/** The container that a request is for. */
export interface PodTarget {
  readonly namespace: string;
  readonly pod: string;
  /** As the request names it. */
  readonly container: string | undefined;
}

/** The standard streams of a command. Those that the request does not ask for are never written or read. */
export interface CommandStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** What a test gives instead of containers. What it leaves out is answered with 501. */
export interface PodStreams {
  /** Parts of the log. With `follow` they may go on until `signal` aborts, because the client disconnected. */
  log?(
    target: PodTarget,
    options: { readonly follow: boolean; readonly tailLines: number | undefined; readonly signal: AbortSignal },
  ): Iterable<string | Buffer> | AsyncIterable<string | Buffer>;
  /** Runs a command over WebSocket and resolves with its exit code. */
  exec?(target: PodTarget, command: readonly string[], streams: CommandStreams): Promise<number>;
  /** Joins the running program over WebSocket; resolves with its exit code. */
  attach?(target: PodTarget, streams: CommandStreams): Promise<number>;
  /** A connection to a port over WebSocket. */
  portForward?(target: PodTarget, port: number, connection: Duplex): void;
  /** Any other protocol, such as SPDY. The handler writes the response, the 101 too. */
  upgrade?(target: PodTarget, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}
