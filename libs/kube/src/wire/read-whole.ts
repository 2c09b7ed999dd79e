import type { Readable } from "node:stream";
import { ResponseTooLarge } from "../errors.ts";

/** Reads a body to its end. One that is larger than `limit` bytes is given up, and its connection with it. */
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
