import type { Readable } from "node:stream";
import { ResponseTooLarge } from "../errors.ts";

/** Reads a body to its end. A body of more than `limit` bytes fails, and its connection is closed. */
export async function readWhole(call: string, body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new ResponseTooLarge({ call, limit });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
