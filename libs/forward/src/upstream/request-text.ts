import type { Ask } from "./try.ts";

/** The request cannot be written as HTTP/1.1. */
export class UnsendableRequest extends Error {
  override readonly name = "UnsendableRequest";
}

const METHOD = /^[\w!#$%&'*+.^`|~-]+$/;
const NAME = METHOD;
const NOT_IN_PATH = /[^\x21-\xff]/;
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Methods of requests that usually have a body, so a missing length is ambiguous (RFC 9110, section 8.6). */
const WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** The bytes, in latin1, of a request without a body. Throws `UnsendableRequest`. */
export function requestText({ asker: { method }, path, host, headers }: Ask): string {
  if (!METHOD.test(method) || NOT_IN_PATH.test(path)) throw new UnsendableRequest("invalid request target");
  if (NOT_IN_VALUE.test(host)) throw new UnsendableRequest("invalid host header");
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (!NAME.test(name)) throw new UnsendableRequest("invalid header key");
    if (NOT_IN_VALUE.test(value)) throw new UnsendableRequest(`invalid ${name} header`);
    text += `${name}: ${value}\r\n`;
  }
  return WITH_BODY.has(method) ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`;
}
