import { Lexer, parseDocument, stringify } from "yaml";
import { keepWritten, WrittenScalar, writtenTag } from "./written-scalar.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Characters. An object of the API server holds 1.5 MiB at most. */
const MAX_LENGTH = 1_000_000;
/** Lists and maps inside one another. The time that deeper texts take to read grows with the square of the depth. */
const MAX_DEPTH = 100;
/** What aliases may multiply a text to, as yaml counts it. */
const MAX_ALIASES = 100;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof WrittenScalar);
}

/** The fields but those of `names`. */
export function without(fields: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/**
 * The collectors' configuration as fields; see {@link WrittenScalar}. Throws a SyntaxError with one line that says what
 * is wrong.
 */
export function parseConfiguration(text: string): Fields {
  if (text.length > MAX_LENGTH) {
    throw new SyntaxError(`it has ${text.length} characters; at most ${MAX_LENGTH} are read`);
  }
  if (isTooDeep(text)) throw new SyntaxError(`its lists and maps nest more than ${MAX_DEPTH} deep`);
  const document = parseDocument(text, { merge: true, uniqueKeys: true, prettyErrors: true });
  const [fault] = document.errors;
  if (fault !== undefined) throw new SyntaxError(fault.message.split("\n", 1)[0] ?? "", { cause: fault });
  keepWritten(document);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw new SyntaxError("its aliases repeat too much: write the repeated parts out", { cause });
  }
  if (!isFields(value)) throw new SyntaxError("it is not a map of fields");
  return value;
}

/** Whether brackets, or the items and keys that begin on one line, nest too deeply. Indentation costs text instead. */
function isTooDeep(text: string): boolean {
  let brackets = 0;
  let onLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") brackets += 1;
    else if (token === "]" || token === "}") brackets -= 1;
    else if (token === "-" || token === "?") onLine += 1;
    else if (token === "\n" || token === "\r\n") onLine = 0;
    if (brackets > MAX_DEPTH || onLine > MAX_DEPTH) return true;
  }
  return false;
}

/** The same fields always give the same text. */
export function configurationText(configuration: Fields): string {
  return stringify(configuration, { aliasDuplicateObjects: false, lineWidth: 0, customTags: [writtenTag] });
}
