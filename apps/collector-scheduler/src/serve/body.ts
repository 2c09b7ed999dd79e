/**
 * What is sent. A string has characters of ASCII alone, each a byte: Node sends it together with the head, uncopied.
 */
export type Body = string | Buffer;

/** Characters from which a copy that exists already costs less than to join a text with each head. */
const LONG = 65_536;

export function bodyOf(text: string): Body {
  return text.length < LONG && Buffer.byteLength(text) === text.length ? text : Buffer.from(text);
}
