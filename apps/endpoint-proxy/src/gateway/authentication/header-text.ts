import { UnsendableIdentity } from "../errors.ts";

/** Bytes that a header's name may hold (RFC 9110, section 5.6.2), but `%`, which starts an escape. */
const TOKEN = /[^!#$&'*+\-.^_`|~0-9A-Za-z]/;

/**
 * A value as Node writes it: one character a byte of UTF-8. Throws for values that a server would read as another one:
 * with white space at either end, which is cut, or with control characters.
 */
export function headerValue(what: string, value: string): string {
  if (value === "" || value.startsWith(" ") || value.endsWith(" ") || hasControl(value)) {
    throw new UnsendableIdentity({ what });
  }
  return Buffer.from(value, "utf8").toString("latin1");
}

/** The text of a received value; undefined if its bytes are not UTF-8. */
export function headerText(value: string): string | undefined {
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}

/** The key of an extra as the end of a header's name: in lower case, and as kube-apiserver's clients escape it. */
export function escapeKey(key: string): string {
  let escaped = "";
  for (const byte of Buffer.from(key.toLowerCase(), "utf8")) {
    const character = String.fromCharCode(byte);
    escaped += TOKEN.test(character) ? `%${byte.toString(16).toUpperCase().padStart(2, "0")}` : character;
  }
  return escaped;
}

/** The key behind the end of a header's name. Like kube-apiserver, it takes a name with a broken escape literally. */
export function unescapeKey(name: string): string {
  const lower = name.toLowerCase();
  try {
    return decodeURIComponent(lower);
  } catch {
    return lower;
  }
}

function hasControl(value: string): boolean {
  return Array.from(value).some((character) => character < " " || character === "\u007f");
}
