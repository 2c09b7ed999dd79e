/** Where values begin and end in JSON text, without parsing them. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const AFTER_A_LITERAL = new Set([0x2c, 0x7d, 0x5d, 0x20, 0x09, 0x0a, 0x0d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);
const COMMA = 0x2c;

/** The index after the value that starts at `from`; undefined if the buffer ends before the value does. */
export function valueEnd(buffer: Buffer, from: number): number | undefined {
  const first = buffer[from];
  if (first === QUOTE) return textEnd(buffer, from);
  if (first === undefined || !OPEN.has(first)) return literalEnd(buffer, from);
  let depth = 0;
  for (let at = from; at < buffer.length; at += 1) {
    const byte = buffer[at] ?? 0;
    if (byte === QUOTE) {
      const end = textEnd(buffer, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (OPEN.has(byte)) depth += 1;
    else if (CLOSE.has(byte) && (depth -= 1) === 0) return at + 1;
  }
  return undefined;
}

function textEnd(buffer: Buffer, from: number): number | undefined {
  for (let close = buffer.indexOf(QUOTE, from + 1); close !== -1; close = buffer.indexOf(QUOTE, close + 1)) {
    let escapes = 0;
    while (buffer[close - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return close + 1;
  }
  return undefined;
}

function literalEnd(buffer: Buffer, from: number): number | undefined {
  for (let at = from; at < buffer.length; at += 1) if (AFTER_A_LITERAL.has(buffer[at] ?? 0)) return at;
  return undefined;
}

export function afterBlanks(buffer: Buffer, from: number): number {
  let at = from;
  while (BLANK.has(buffer[at] ?? 0)) at += 1;
  return at;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The value of a field of the object that starts at `from`; undefined if it has no such field. */
function fieldSpan(buffer: Buffer, from: number, name: string): Span | undefined {
  let at = afterBlanks(buffer, from + 1);
  while (buffer[at] === QUOTE) {
    const keyEnd = textEnd(buffer, at) ?? buffer.length;
    const key = buffer.toString("utf8", at + 1, keyEnd - 1);
    const start = afterBlanks(buffer, afterBlanks(buffer, keyEnd) + 1);
    const end = valueEnd(buffer, start) ?? buffer.length;
    if (key === name) return { start, end };
    at = afterBlanks(buffer, end);
    if (buffer[at] === COMMA) at = afterBlanks(buffer, at + 1);
  }
  return undefined;
}

/** A span further down; every value on the way must be an object. */
export function spanAt(buffer: Buffer, path: readonly string[]): Span | undefined {
  let span: Span | undefined = { start: 0, end: buffer.length };
  for (const name of path) {
    if (span === undefined || buffer[span.start] !== 0x7b) return undefined;
    span = fieldSpan(buffer, span.start, name);
  }
  return span;
}

export function textOf(buffer: Buffer, path: readonly string[]): string | undefined {
  const span = spanAt(buffer, path);
  if (span === undefined || buffer[span.start] !== QUOTE) return undefined;
  return JSON.parse(buffer.toString("utf8", span.start, span.end)) as string;
}

/** The buffer with `text` between `at` and what follows. */
export function inserted(buffer: Buffer, at: number, text: string): Buffer {
  return Buffer.concat([buffer.subarray(0, at), Buffer.from(text), buffer.subarray(at)]);
}

/** Whether the object or list that starts at `start` has nothing in it. */
export function isEmpty(buffer: Buffer, { start }: Span): boolean {
  return CLOSE.has(buffer[afterBlanks(buffer, start + 1)] ?? 0);
}
