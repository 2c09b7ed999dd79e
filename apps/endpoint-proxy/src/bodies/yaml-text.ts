import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
} from "yaml";
import { type Json, rawNumber } from "./json-text.ts";

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Tags of YAML 1.1 that kube-apiserver does not resolve: it reads such text as text. */
const NOT_RESOLVED: readonly string[] = ["timestamp", "binary", "omap", "set", "pairs"].map(
  (name) => `tag:yaml.org,2002:${name}`,
);

/** Nodes that aliases may add to what is written: a few lines of nested aliases would fill the memory. */
const MOST_REPEATED = 10_000;
const DEEPEST = 500;

/**
 * YAML 1.1, as kube-apiserver reads it, as JSON. A number that JSON could write the same way keeps its text.
 * Throws a SyntaxError whose message has line and column.
 */
export function parseYaml(text: string): Json {
  try {
    return parsedYaml(text);
  } catch (error) {
    // The parser calls itself for each level.
    if (error instanceof RangeError) throw new SyntaxError("the YAML document is nested too deep", { cause: error });
    throw error;
  }
}

function parsedYaml(text: string): Json {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    // The parser compares each key with every other; the reader below does it in one pass.
    uniqueKeys: false,
    version: "1.1",
    merge: true,
    customTags: (tags) => tags.filter((tag) => typeof tag === "string" || !NOT_RESOLVED.includes(tag.tag)),
  });
  if (!Array.isArray(documents) || documents.length > 1) {
    throw new SyntaxError(`expected one YAML document, got ${Array.isArray(documents) ? documents.length : 0}`);
  }
  const [document] = documents;
  const [error] = document?.errors ?? [];
  if (error !== undefined)
    throw new SyntaxError(error.message.split(":\n")[0] ?? error.message, {
      cause: error,
    });
  if (document === undefined || document.contents === null) throw new SyntaxError("the YAML document is empty");
  return new YamlReader(document, lines).json(document.contents);
}

class YamlReader {
  readonly #targets: ReadonlyMap<Alias, Node>;
  /** Aliases that are being read: one that leads to itself has no end. */
  readonly #open = new Set<Node>();
  readonly #lines: LineCounter;
  #repeated = 0;
  #depth = 0;

  constructor(document: Document.Parsed, lines: LineCounter) {
    this.#targets = targetsOf(document);
    this.#lines = lines;
  }

  json(node: unknown): Json {
    if (this.#open.size > 0) this.#count();
    if (this.#depth >= DEEPEST) throw new SyntaxError(`the YAML document is nested deeper than ${DEEPEST} levels`);
    this.#depth += 1;
    try {
      return this.#value(node);
    } finally {
      this.#depth -= 1;
    }
  }

  #count(): void {
    this.#repeated += 1;
    if (this.#repeated > MOST_REPEATED) throw new SyntaxError(`aliases repeat more than ${MOST_REPEATED} values`);
  }

  #value(node: unknown): Json {
    if (isAlias(node)) return this.#followed(node, (target) => this.json(target));
    if (isSeq(node)) return node.items.map((item) => this.json(item));
    if (isMap(node)) return Object.fromEntries(this.#fields(node.items));
    if (!isScalar(node)) return null;
    const { value, source } = node;
    if (typeof value === "number" || typeof value === "bigint") {
      return source !== undefined && JSON_NUMBER.test(source) ? rawNumber(source) : Number(value);
    }
    return typeof value === "string" || typeof value === "boolean" ? value : null;
  }

  #followed<T>(alias: Alias, read: (target: Node | undefined) => T): T {
    const target = this.#targets.get(alias);
    if (target === undefined) return read(undefined);
    if (this.#open.has(target)) throw new SyntaxError(`alias *${alias.source} contains itself`);
    this.#count();
    this.#open.add(target);
    try {
      return read(target);
    } finally {
      this.#open.delete(target);
    }
  }

  #place(node: unknown): string {
    const start = isNode(node) ? node.range?.[0] : undefined;
    if (start === undefined) return "";
    const { line, col } = this.#lines.linePos(start);
    return ` at line ${line}, column ${col}`;
  }

  /** Fields of a mapping; what `<<` brings along stands first, so that the mapping's own fields win. */
  #fields(pairs: readonly { readonly key: unknown; readonly value: unknown }[]): readonly (readonly [string, Json])[] {
    const isMerge = ({ key }: { readonly key: unknown }): boolean =>
      isScalar(key) && (key.value === "<<" || typeof key.value === "symbol");
    const fieldsOf = (source: unknown) => (isMap(source) ? this.#fields(source.items) : []);
    const merged = pairs.filter(isMerge).flatMap(({ value }) => {
      const sources = isSeq(value) ? value.items : [value];
      return sources.toReversed().flatMap((one) => (isAlias(one) ? this.#followed(one, fieldsOf) : fieldsOf(one)));
    });
    const names = new Set<string>();
    const own = pairs
      .filter((pair) => !isMerge(pair))
      .map(({ key, value }) => {
        const name = isScalar(key) ? (key.source ?? String(key.value)) : "";
        if (names.has(name)) throw new SyntaxError(`map keys must be unique${this.#place(key)}`);
        names.add(name);
        return [name, this.json(value)] as const;
      });
    return [...merged, ...own];
  }
}

/** What each alias stands for: the last node before it that has its anchor. */
function targetsOf(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
  });
  return targets;
}
