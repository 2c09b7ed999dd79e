/**
 * The longest beginning of `text` that has at most `limit` bytes in UTF-8, marked by an ellipsis where something was
 * cut.
 */
export function withinBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const ellipsis = "…";
  const bytes = Buffer.from(text).subarray(0, limit - Buffer.byteLength(ellipsis));
  // A character that the cut went through decodes to replacement characters at the end.
  return new TextDecoder().decode(bytes, { stream: true }) + ellipsis;
}

/** A name for an Event about an object: the object's own as far as it can be one, and a part that makes it unique. */
export function eventName(object: string, unique: string): string {
  const base = object
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, "-")
    .replaceAll(/\.{2,}/g, ".")
    .slice(0, 252 - unique.length)
    .replaceAll(/^[.-]+|[.-]+$/g, "");
  return base === "" ? unique : `${base}.${unique}`;
}
