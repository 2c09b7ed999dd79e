import { afterBlanks, valueEnd } from "./json-spans.ts";

const ITEMS: readonly string[] = ["items", "rows"];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA, COLON] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a];

/** Bytes of one item. An object in etcd is at most 1.5 MiB unless told. */
const ITEM_LIMIT = 64 * 2 ** 20;

/** A list that is read item by item: no more than one item and one chunk are in memory. */
export class ListStream {
  /** Fields beside the items, as text. Those after the items are there once `next` returned undefined. */
  readonly fields = new Map<string, string>();
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer = Buffer.alloc(0);
  #at = 0;
  #isInItems = false;

  constructor(body: AsyncIterable<Buffer>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Reads up to the first item. Throws if it is no JSON object. */
  async open(): Promise<this> {
    if ((await this.#peek()) !== OPEN_OBJECT) throw new SyntaxError("the list is no JSON object");
    this.#at += 1;
    await this.#readFields();
    return this;
  }

  /** The next item as text; undefined after the last. */
  async next(): Promise<Buffer | undefined> {
    if (!this.#isInItems) return undefined;
    if ((await this.#peek()) === COMMA) this.#at += 1;
    if ((await this.#peek()) !== CLOSE_LIST) return this.#value();
    this.#at += 1;
    this.#isInItems = false;
    await this.#readFields();
    return undefined;
  }

  async #readFields(): Promise<void> {
    for (;;) {
      const byte = await this.#peek();
      if (byte === CLOSE_OBJECT) return;
      if (byte === COMMA) {
        this.#at += 1;
        continue;
      }
      const name = JSON.parse((await this.#value()).toString()) as string;
      if ((await this.#peek()) !== COLON) throw new SyntaxError("the list is no JSON object");
      this.#at += 1;
      if (ITEMS.includes(name) && (await this.#peek()) === OPEN_LIST) {
        this.#at += 1;
        this.#isInItems = true;
        return;
      }
      this.fields.set(name, (await this.#value()).toString());
    }
  }

  /** The next byte that is not blank. */
  async #peek(): Promise<number> {
    for (;;) {
      this.#at = afterBlanks(this.#buffer, this.#at);
      const byte = this.#buffer[this.#at];
      if (byte !== undefined) return byte;
      await this.#more();
    }
  }

  async #value(): Promise<Buffer> {
    await this.#peek();
    for (;;) {
      const end = valueEnd(this.#buffer, this.#at);
      if (end === this.#at) throw new SyntaxError("the list is not valid JSON");
      if (end !== undefined) {
        const value = this.#buffer.subarray(this.#at, end);
        this.#at = end;
        return value;
      }
      await this.#more();
    }
  }

  /** Reads at least as much as is waiting, so that a long item is not searched again for each chunk. */
  async #more(): Promise<void> {
    const parts: Buffer[] = [this.#buffer.subarray(this.#at)];
    const waiting = this.#buffer.length - this.#at;
    let more = 0;
    do {
      const next = await this.#chunks.next();
      if (next.done === true && more === 0) throw new SyntaxError("the list ends too early");
      if (next.done === true) break;
      parts.push(next.value);
      more += next.value.length;
      if (waiting + more > ITEM_LIMIT) throw new RangeError("an item of the list is too long");
    } while (more < waiting);
    this.#buffer = Buffer.concat(parts, waiting + more);
    this.#at = 0;
  }
}
