import { MalformedResponse, type ResponseHead, responseHead, trailerLines } from "./response-head.ts";

/** Hears of the parts of one response, in order. */
export interface ResponseSink {
  /** The head of an interim response, or of the final one. */
  head(head: ResponseHead): void;
  part(data: Buffer): void;
  /** Trailers alternate names, in lower case, and values. Called once, last. */
  end(trailers: readonly string[]): void;
}

const START = "HTTP/1.";
const END_OF_HEAD = Buffer.from("\r\n\r\n");
const LINE_FEED = 10;

/** Maximum bytes of a line with the size of a chunk, including extensions, which are dropped. */
const SIZE_LINE = 4_096;

type State = "idle" | "head" | "length" | "size" | "chunk" | "chunkEnd" | "trailers" | "close";

/**
 * Reads the responses on one connection, one at a time, from the bytes as they arrive. It accepts less than most
 * clients: what is ambiguous throws `MalformedResponse`, and the connection must be closed.
 */
export class ResponseReader {
  readonly #headBytes: number;
  #sink: ResponseSink | undefined = undefined;
  #isHead = false;
  #state: State = "idle";
  /** Bytes of a head, a line or trailers that are incomplete. */
  #held: Buffer | undefined = undefined;
  /** Remaining bytes of the body or the chunk. */
  #rest = 0;
  #isReusable = false;
  #keptFor = Infinity;

  constructor(headBytes: number) {
    this.#headBytes = headBytes;
  }

  /** Whether the connection can be used again: the response is complete and says so. */
  get isReusable(): boolean {
    return this.#state === "idle" && this.#isReusable;
  }

  /** See `ResponseHead`. */
  get keptFor(): number {
    return this.#keptFor;
  }

  /** A request was sent, with the method HEAD if `isHead`. */
  begin(sink: ResponseSink, isHead: boolean): void {
    this.#sink = sink;
    this.#isHead = isHead;
    this.#state = "head";
    this.#isReusable = true;
  }

  /** Ends calls of the sink. */
  stop(): void {
    this.#sink = undefined;
    this.#state = "idle";
    this.#isReusable = false;
  }

  /** Throws `MalformedResponse`. */
  read(data: Buffer): void {
    let at = 0;
    while (at < data.length) {
      switch (this.#state) {
        case "idle":
          // The upstream sent bytes without a request.
          this.#isReusable = false;
          return;
        case "head":
          at = this.#readHead(data, at);
          break;
        case "length":
        case "chunk":
          at = this.#readCounted(data, at);
          break;
        case "size":
        case "chunkEnd":
        case "trailers":
          at = this.#readLine(data, at);
          break;
        case "close":
          this.#sink?.part(at === 0 ? data : data.subarray(at));
          return;
      }
    }
  }

  /** The upstream has closed its side. Returns whether the response is complete, which some are only then. */
  close(): boolean {
    this.#isReusable = false;
    if (this.#state === "close") this.#end([]);
    return this.#state === "idle";
  }

  #readHead(data: Buffer, at: number): number {
    const { held, bytes, start } = this.#join(data, at);
    const end = bytes.indexOf(END_OF_HEAD, start);
    const size = (end < 0 ? bytes.length : end) - start;
    if (size > this.#headBytes) throw new MalformedResponse("a head over the limit");
    if (end < 0) {
      const begin = bytes.toString("latin1", start, Math.min(bytes.length, start + START.length));
      if (!START.startsWith(begin)) throw new MalformedResponse("bytes that are no HTTP");
      this.#held = bytes.subarray(start);
      return data.length;
    }
    this.#held = undefined;
    const head = responseHead(bytes.toString("latin1", start, end));
    const next = end + END_OF_HEAD.length - held;
    this.#take(head);
    return next;
  }

  #take(head: ResponseHead): void {
    const { status, length, isChunked, isKept, keptFor } = head;
    if (status === 101) throw new MalformedResponse("a change of the protocol that was not requested");
    if (status < 200) {
      this.#sink?.head(head);
      return;
    }
    this.#keptFor = keptFor;
    const hasNoBody = this.#isHead || status === 204 || status === 304;
    // An upstream that announces a body for such a status may also send it.
    const isClear = this.#isHead || !hasNoBody || (length <= 0 && !isChunked);
    this.#isReusable = isKept && isClear;
    this.#rest = length;
    this.#state = hasNoBody || length >= 0 ? "length" : isChunked ? "size" : "close";
    if (this.#state === "close") this.#isReusable = false;
    this.#sink?.head(head);
    if (this.#state === "length" && (hasNoBody || length === 0)) this.#end([]);
  }

  #readCounted(data: Buffer, at: number): number {
    const end = Math.min(data.length, at + this.#rest);
    this.#rest -= end - at;
    this.#sink?.part(at === 0 && end === data.length ? data : data.subarray(at, end));
    if (this.#rest > 0 || this.#state === "idle") return end;
    if (this.#state === "length") this.#end([]);
    else this.#state = "chunkEnd";
    return end;
  }

  /** Lines of a chunked body. */
  #readLine(data: Buffer, at: number): number {
    const { held, bytes, start } = this.#join(data, at);
    const isTrailers = this.#state === "trailers";
    // The trailers end with an empty line, which is all of them if there are none.
    const isEmpty = isTrailers && bytes.length >= start + 2 && bytes[start] === 13 && bytes[start + 1] === LINE_FEED;
    const found = isTrailers && !isEmpty ? bytes.indexOf(END_OF_HEAD, start) : bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    if (end - start > (isTrailers ? this.#headBytes : SIZE_LINE)) throw new MalformedResponse("a line over the limit");
    if (found < 0) {
      this.#held = bytes.subarray(start);
      return data.length;
    }
    this.#held = undefined;
    if (isTrailers) {
      this.#end(isEmpty ? [] : trailerLines(bytes.toString("latin1", start, end)));
      return end + (isEmpty ? 1 : END_OF_HEAD.length) - held;
    }
    const line = bytes.toString("latin1", start, end);
    if (this.#state === "chunkEnd") {
      if (line !== "\r") throw new MalformedResponse("a chunk that is longer than its size");
      this.#state = "size";
    } else {
      const [, size] = /^([\da-f]{1,12})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r$/i.exec(line) ?? [];
      if (size === undefined) throw new MalformedResponse("a chunk without a size");
      this.#rest = parseInt(size, 16);
      this.#state = this.#rest === 0 ? "trailers" : "chunk";
    }
    return end + 1 - held;
  }

  /** What was held and the rest of `data`, which begins at `start`. `held` is the number of bytes that were held. */
  #join(data: Buffer, at: number): { held: number; bytes: Buffer; start: number } {
    const held = this.#held;
    if (!held) return { held: 0, bytes: data, start: at };
    const bytes = Buffer.concat([held, at === 0 ? data : data.subarray(at)]);
    return { held: held.length - at, bytes, start: 0 };
  }

  #end(trailers: readonly string[]): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#state = "idle";
    sink?.end(trailers);
  }
}
