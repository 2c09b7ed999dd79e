/** The framing of a request is not for users to set. */
const RESERVED = new Set(["connection", "content-length", "content-type", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]); // prettier-ignore
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why a header that a user wrote cannot be sent; nothing if it can. It repeats the name and never the value. */
export function headerFault(name: string, value = ""): string | undefined {
  if (!NAME.test(name)) return `${JSON.stringify(name)} is no header's name`;
  if (RESERVED.has(name.toLowerCase())) return `${name} cannot be set`;
  if (!VALUE.test(value)) return `${name}: the value has characters that no header may have, such as a line break`;
  return undefined;
}
