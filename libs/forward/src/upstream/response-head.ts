/** The head of an HTTP/1.1 response. */
export interface ResponseHead {
  readonly status: number;
  readonly text: string;
  /** Alternating names, in lower case, and values. */
  readonly headers: string[];
  /** The length of the body; -1 if the head does not say it. */
  readonly length: number;
  readonly isChunked: boolean;
  /** Whether the upstream keeps the connection open after a body that has an end of its own. */
  readonly isKept: boolean;
  /** Milliseconds for which the upstream says that it keeps an idle connection; Infinity if it does not say. */
  readonly keptFor: number;
}

/** The upstream's bytes are not a valid response. */
export class MalformedResponse extends Error {
  override readonly name = "MalformedResponse";
}

/** A character that no head has, or a line break that is not CR LF. */
const FOREIGN = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Parses a head without the empty line at its end. Throws `MalformedResponse` if two readers could read it differently.
 */
export function responseHead(text: string): ResponseHead {
  if (FOREIGN.test(text)) throw new MalformedResponse("a character that does not belong into a head");
  const first = text.indexOf("\r\n");
  const line = STATUS_LINE.exec(first < 0 ? text : text.slice(0, first));
  if (!line) throw new MalformedResponse("no status line of HTTP/1.1");
  const headers = first < 0 ? [] : headerLines(text.slice(first + 2));
  let length = -1;
  let isChunked = false;
  let isEncoded = false;
  let connection = "";
  let keptFor = Infinity;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (name === "content-length") {
      if (length >= 0 || !/^\d{1,15}$/.test(value)) throw new MalformedResponse("an unclear Content-Length");
      length = Number(value);
    } else if (name === "transfer-encoding") {
      isEncoded = true;
      isChunked = /(?:^|[\t ,])chunked$/i.test(value);
    } else if (name === "connection") connection += `,${value.toLowerCase()}`;
    else if (name === "keep-alive") keptFor = Number(/timeout=(\d+)/i.exec(value)?.[1] ?? Infinity) * 1000;
  }
  if (isEncoded && length >= 0) throw new MalformedResponse("both Content-Length and Transfer-Encoding");
  const isKept = line[1] === "1" ? !names(connection, "close") : names(connection, "keep-alive");
  return { status: Number(line[2]), text: line[3] ?? "", headers, length, isChunked, isKept, keptFor };
}

/** Parses lines of headers or trailers: alternating names, in lower case, and values. */
function headerLines(text: string): string[] {
  const list: string[] = [];
  for (let start = 0; start < text.length;) {
    const next = text.indexOf("\r\n", start);
    const end = next < 0 ? text.length : next;
    const colon = text.indexOf(":", start);
    const name = colon < 0 || colon > end ? "" : text.slice(start, colon);
    if (!NAME.test(name)) throw new MalformedResponse("a line that is not a header");
    list.push(name.toLowerCase(), trimmed(text, colon + 1, end));
    start = end + 2;
  }
  return list;
}

/** Without blanks and tabs at either end. `trim` would also remove bytes of other encodings. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Throws if a trailer has a character that does not belong there. */
export function trailerLines(text: string): string[] {
  if (FOREIGN.test(text)) throw new MalformedResponse("a character that does not belong into a trailer");
  return headerLines(text);
}

function names(connection: string, token: string): boolean {
  return connection !== "" && connection.split(",").some((one) => one.trim() === token);
}
