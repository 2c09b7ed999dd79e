/**
 * The longest start of `text` that has at most `limit` bytes in UTF-8, with an ellipsis if something was cut.
 */
export function withinBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const ellipsis = "…";
  const bytes = Buffer.from(text).subarray(0, limit - Buffer.byteLength(ellipsis));
  // Streaming mode drops the bytes of a character that was cut in the middle.
  return new TextDecoder().decode(bytes, { stream: true }) + ellipsis;
}

/** A name for an Event about an object: the object's name, as far as it is a valid one, and a unique part. */
export function eventName(object: string, unique: string): string {
  const base = object
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, "-")
    .replaceAll(/\.{2,}/g, ".")
    .slice(0, 252 - unique.length)
    .replaceAll(/^[.-]+|[.-]+$/g, "");
  return base === "" ? unique : `${base}.${unique}`;
}
