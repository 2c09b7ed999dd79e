const BLANK = /[ \t\n\r]*/y;
const SCALAR =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null/iuy;

/** How deep the place of a fault is looked for. */
const DEEPEST = 1_000;

/** Where text stops being JSON, as `line 2 column 3`. Node's own message does not always say. */
export function placeOfFault(text: string): string {
  const offset = new JsonWalk(text).faultOffset();
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length} column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

class JsonWalk {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  faultOffset(): number {
    if (this.#value()) this.#skip(BLANK);
    return this.#at;
  }

  /** Whether a value starts here; if so, it is skipped. */
  #value(): boolean {
    this.#skip(BLANK);
    if (this.#take("{")) return this.#list("}", () => this.#skip(SCALAR) && this.#take(":") && this.#value());
    if (this.#take("[")) return this.#list("]", () => this.#value());
    return this.#skip(SCALAR);
  }

  #list(close: string, element: () => boolean): boolean {
    if (this.#take(close)) return true;
    if (this.#depth >= DEEPEST) return false;
    this.#depth += 1;
    do {
      this.#skip(BLANK);
      if (!element()) return false;
    } while (this.#take(","));
    this.#depth -= 1;
    return this.#take(close);
  }

  #take(mark: string): boolean {
    this.#skip(BLANK);
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #skip(form: RegExp): boolean {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found !== null;
  }
}
