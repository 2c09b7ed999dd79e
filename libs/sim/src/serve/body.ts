import type { IncomingMessage } from "node:http";
import { parse } from "yaml";
import { decodeProtobuf } from "../protobuf/decode.ts";
import { ApiFault, badRequest } from "../status.ts";

/** The most that one request may carry, in bytes. */
const LIMIT = 3 * 1024 * 1024;

/**
 * Reads a body to its end. Fails with RequestEntityTooLarge; what is too much is read all the same, so that the answer
 * arrives.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= LIMIT) chunks.push(chunk);
  }
  if (length > LIMIT) throw new ApiFault(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT}`);
  return Buffer.concat(chunks);
}

/** What a body says, by its content type; undefined if it is empty. */
export function parseBody(body: Buffer, contentType: string): unknown {
  if (body.length === 0) return undefined;
  if (contentType.includes("protobuf")) {
    const decoded = decodeProtobuf(body);
    if (decoded === undefined) throw unsupported(contentType);
    return decoded;
  }
  const text = body.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    if (!contentType.includes("yaml")) throw badRequest("the body is not valid JSON");
  }
  try {
    return parse(text);
  } catch {
    throw badRequest("the body is not valid YAML");
  }
}

export function unsupported(contentType: string): ApiFault {
  const why = `the body of the request was in an unknown format - accepted media types do not include: ${contentType}`;
  return new ApiFault(415, "UnsupportedMediaType", why);
}
