import { createCipheriv, createHash } from "node:crypto";

const KEY = Buffer.alloc(16, "evenkeel");
const PART = Buffer.alloc(256 * 1024);

/** A fixed sequence of bytes without repeated parts, so that lost, duplicated and reordered parts are detected. */
export function* bytes(size: number): Generator<Buffer> {
  const cipher = createCipheriv("aes-128-ctr", KEY, KEY);
  for (let left = size; left > 0; left -= PART.length) yield cipher.update(PART.subarray(0, left));
}

/** What they hash to, as SHA-256. */
export function digestOfBytes(size: number): string {
  const hash = createHash("sha256");
  for (const part of bytes(size)) hash.update(part);
  return hash.digest("hex");
}
