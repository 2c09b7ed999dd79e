/** One element of the `items` of a document, or the rest of the document, where `items` is empty. */
export type JsonPart =
  | {
      readonly kind: "item";
      /** Its place in `items`. */
      readonly index: number;
      /** Where it starts in the file, in bytes. */
      readonly byte: number;
      readonly text: Buffer;
      /** The fields of the document that stand before `items`. */
      readonly before: () => Buffer;
    }
  | { readonly kind: "rest"; readonly byte: number; readonly text: Buffer };

/** What makes a text unreadable, and where. */
export class JsonFault extends Error {
  readonly byte: number;

  constructor(byte: number, message: string) {
    super(message);
    this.byte = byte;
  }
}

/** Bytes of one item or one rest. An object of Kubernetes has at most a few MiB; V8 has no text above 512 MiB. */
const LARGEST_PART = 400 * 2 ** 20;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const END_OF_DOCUMENT = Buffer.from("]}");
/** Bytes of a key that tell whether it is `items`. */
const LONGEST_KEY = 6;

/**
 * Cuts the elements of the top-level `items` out of a stream of JSON documents, so that no more than one of them is in
 * memory at a time and a file may be larger than the longest text. Only brackets and strings are looked at here;
 * whether a part is JSON shows when it is parsed.
 */
export async function* jsonDocuments(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonPart, void, undefined> {
  const scanner = new Scanner();
  for await (const chunk of chunks) yield* scanner.scan(chunk);
  scanner.end();
}

/** A part that is being collected from chunks. */
class Collected {
  readonly byte: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(byte: number) {
    this.byte = byte;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    if (this.#length > LARGEST_PART)
      throw new JsonFault(this.byte, `what starts here is larger than ${LARGEST_PART} bytes`);
    this.#chunks.push(bytes);
  }

  get bytes(): Buffer {
    return this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks);
  }
}

class Scanner {
  /** Bytes before the present chunk. */
  #passed = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Within `items` of the document. */
  #inItems = false;
  #index = 0;
  #item: Collected | undefined;
  #rest: Collected | undefined;
  /** The text of the last string at depth 1, which is a key if a colon follows. */
  #word = "";
  #key = "";

  *scan(chunk: Buffer): Generator<JsonPart, void, undefined> {
    // Where the part that is being collected continues in this chunk.
    let from = 0;
    let at = this.#inString ? this.#endOfString(chunk, 0) + 1 : 0;
    for (; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      // Most bytes between strings are blanks, and these few tests let them pass quickly.
      if (byte <= SPACE || byte === COMMA) continue;
      if (byte === QUOTE) {
        if (this.#depth === 0) throw this.#notJson(at);
        if (this.#depth === 2 && this.#inItems) throw this.#notObject(at);
        this.#inString = true;
        this.#word = "";
        at = this.#endOfString(chunk, at + 1);
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (this.#depth === 0) {
          if (byte === OPEN_LIST) throw this.#notJson(at);
          this.#rest = new Collected(this.#passed + at);
          from = at;
        } else if (this.#depth === 1 && byte === OPEN_LIST && this.#key === "items") {
          this.#inItems = true;
          this.#index = 0;
          this.#rest?.add(chunk.subarray(from, at + 1));
        } else if (this.#depth === 2 && this.#inItems) {
          this.#item = new Collected(this.#passed + at);
          from = at;
        }
        this.#depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.#depth--;
        if (this.#depth < 0) throw new JsonFault(this.#passed + at, "a bracket closes that was never opened");
        if (this.#depth === 2 && this.#item !== undefined) {
          yield this.#endItem(this.#item, chunk.subarray(from, at + 1));
        } else if (this.#depth === 1 && this.#inItems) {
          this.#inItems = false;
          from = at;
        } else if (this.#depth === 0 && this.#rest !== undefined) {
          yield this.#endRest(this.#rest, chunk.subarray(from, at + 1));
        }
      } else if (this.#depth < 3) {
        if (this.#depth === 0 && !this.#isMark(at, byte)) throw this.#notJson(at);
        if (this.#depth === 1 && byte === COLON) this.#key = this.#word;
        if (this.#depth === 2 && this.#inItems) throw this.#notObject(at);
      }
    }
    if (this.#item !== undefined) this.#item.add(chunk.subarray(from));
    else if (!this.#inItems) this.#rest?.add(chunk.subarray(from));
    this.#passed += chunk.length;
  }

  /** The text is over. */
  end(): void {
    if (this.#passed === 0) throw new JsonFault(0, "it is empty");
    if (this.#depth > 0) throw new JsonFault(this.#passed, "it ends in the middle of a document");
  }

  /** The place of the quote that ends the present string, or the end of the chunk. */
  #endOfString(chunk: Buffer, start: number): number {
    let at = start;
    if (this.#escaped && at < chunk.length) {
      this.#escaped = false;
      at++;
    }
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) at++;
    }
    // A backslash at the end of the chunk concerns the first byte of the next.
    this.#escaped = at > chunk.length;
    this.#inString = at >= chunk.length;
    if (this.#depth === 1 && this.#word.length < LONGEST_KEY)
      this.#word += chunk.toString("latin1", start, Math.min(at, start + LONGEST_KEY));
    return at;
  }

  #endItem(item: Collected, last: Buffer): JsonPart {
    item.add(last);
    this.#item = undefined;
    const rest = this.#rest;
    const before = () => Buffer.concat([rest?.bytes ?? Buffer.of(OPEN_OBJECT), END_OF_DOCUMENT]);
    return { kind: "item", index: this.#index++, byte: item.byte, text: item.bytes, before };
  }

  #endRest(rest: Collected, last: Buffer): JsonPart {
    rest.add(last);
    this.#rest = undefined;
    return { kind: "rest", byte: rest.byte, text: rest.bytes };
  }

  #isMark(at: number, byte: number): boolean {
    return this.#passed + at < BYTE_ORDER_MARK.length && byte === BYTE_ORDER_MARK[this.#passed + at];
  }

  #notObject(at: number): JsonFault {
    return new JsonFault(this.#passed + at, `items[${this.#index}] is not an object`);
  }

  #notJson(at: number): JsonFault {
    return new JsonFault(this.#passed + at, "it is not a JSON object, as kubectl writes one with -o json");
  }
}
