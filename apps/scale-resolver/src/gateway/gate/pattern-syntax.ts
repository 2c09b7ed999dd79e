/** A regular expression, taken apart. */
export type Expression =
  | { readonly kind: "character"; readonly fits: (code: number) => boolean }
  | { readonly kind: "place"; readonly holds: (value: string, at: number) => boolean }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Expression[] }
  | { readonly kind: "repetition"; readonly part: Expression; readonly fewest: number; readonly most: number };

/** Why an expression cannot be read: the rest of a sentence about it. */
export class PatternFault extends Error {}

const MALFORMED = "it is not well formed";
/** Times that something may be repeated, where a number is given. */
const MOST_TIMES = 1000;

const TIMES: Readonly<Record<string, readonly [fewest: number, most: number]>> = {
  "*": [0, Infinity],
  "+": [1, Infinity],
  "?": [0, 1],
};

const FLAGS = /^\(\?i\)/;
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/;
const GROUP = /^\((?:\?(?::|P?<\w+>))?/;
/** A class, an escape, or any other character. */
const CHARACTER = /^(?:\[(?:[^\]\\]|\\.)*\]|\\(?:[pPu]\{[^}]*\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)|[^\\])/su;

const isWord = (value: string, at: number) => /^\w$/.test(value.charAt(at));
const isEdge = (value: string, at: number) => isWord(value, at - 1) !== isWord(value, at);
const isStart = (_value: string, at: number) => at === 0;
const isEnd = (value: string, at: number) => at === value.length;

const PLACES: Readonly<Record<string, (value: string, at: number) => boolean>> = {
  "^": isStart,
  $: isEnd,
  "\\A": isStart,
  "\\z": isEnd,
  "\\b": isEdge,
  "\\B": (value, at) => !isEdge(value, at),
};

/** Reads an expression as Go's regexp does, which knows neither back references nor looking around. Throws a PatternFault. */
export function readPattern(source: string): Expression {
  const flags = FLAGS.exec(source)?.[0] ?? "";
  const reader = new Reader(source, flags.length, flags === "" ? "u" : "iu");
  const expression = reader.choice();
  if (!reader.ended) throw new PatternFault(MALFORMED);
  return expression;
}

class Reader {
  readonly #source: string;
  readonly #flags: string;
  readonly #characters = new Map<string, Expression>();
  #at: number;

  constructor(source: string, at: number, flags: string) {
    this.#source = source;
    this.#at = at;
    this.#flags = flags;
  }

  get ended(): boolean {
    return this.#at === this.#source.length;
  }

  choice(): Expression {
    const parts = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at += 1;
      parts.push(this.#sequence());
    }
    return partsAs("choice", parts);
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (!this.ended && !"|)".includes(this.#source.charAt(this.#at))) parts.push(this.#repetition(this.#part()));
    return partsAs("sequence", parts);
  }

  #repetition(part: Expression): Expression {
    const quantifier = this.#take(QUANTIFIER);
    if (!quantifier) return part;
    const [text, number = "", comma, bound = ""] = quantifier;
    const last = bound === "" ? Infinity : Number(bound);
    const [fewest, most] = TIMES[text.charAt(0)] ?? [Number(number), comma === "" ? Number(number) : last];
    if (fewest > MOST_TIMES || (most > MOST_TIMES && most < Infinity)) {
      throw new PatternFault(`it repeats something more than ${MOST_TIMES} times`);
    }
    if (most < fewest || this.#take(QUANTIFIER)) throw new PatternFault(MALFORMED);
    return { kind: "repetition", part, fewest, most };
  }

  #part(): Expression {
    if (this.#take(QUANTIFIER)) throw new PatternFault(MALFORMED);
    if (this.#source[this.#at] === "(") return this.#group();
    const text = this.#take(CHARACTER)?.[0];
    if (text === undefined) throw new PatternFault(MALFORMED);
    if (/^\\(?:[1-9]|k)/.test(text)) throw new PatternFault("it has a back reference");
    const holds = PLACES[text];
    return holds ? { kind: "place", holds } : this.#character(text);
  }

  #group(): Expression {
    const opened = this.#take(GROUP)?.[0] ?? "";
    if (this.#source[this.#at] === "?" && opened === "(") {
      throw new PatternFault("it looks around, or sets flags elsewhere than in (?i) at its beginning");
    }
    const inside = this.choice();
    if (this.#source[this.#at] !== ")") throw new PatternFault(MALFORMED);
    this.#at += 1;
    return inside;
  }

  /** One character: which it may be is left to JavaScript's own expressions, asked once for each of ASCII. */
  #character(text: string): Expression {
    let known = this.#characters.get(text);
    if (!known) this.#characters.set(text, (known = { kind: "character", fits: this.#fits(text) }));
    return known;
  }

  #fits(text: string): (code: number) => boolean {
    if (text.includes("[:")) throw new PatternFault("it has a class of POSIX, such as [:digit:]");
    if (/^\[\^?\]$/.test(text)) throw new PatternFault(MALFORMED);
    const expression = this.#oneOf(asJavaScript(text));
    const ascii = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)));
    return (code) => ascii[code] ?? expression.test(String.fromCodePoint(code));
  }

  #oneOf(text: string): RegExp {
    try {
      return new RegExp(`^${text}$`, this.#flags);
    } catch {
      throw new PatternFault(MALFORMED);
    }
  }

  #take(token: RegExp): RegExpExecArray | undefined {
    const found = token.exec(this.#source.slice(this.#at));
    if (found) this.#at += found[0].length;
    return found ?? undefined;
  }
}

function partsAs(kind: "sequence" | "choice", parts: readonly Expression[]): Expression {
  return parts.length === 1 ? (parts[0] as Expression) : { kind, parts };
}

/** Go lets a backslash stand before every punctuation mark, and braces and brackets without a partner stand for themselves. */
function asJavaScript(text: string): string {
  if (/^[{}\]]$/.test(text)) return `\\${text}`;
  if (text === "\\-") return "-";
  return text.replace(/\\(.)/gsu, (pair, mark: string) => (/[ !"#%&',:;<=>@_`~]/.test(mark) ? mark : pair));
}
