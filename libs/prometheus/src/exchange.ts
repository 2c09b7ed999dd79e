import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { AnswerTooLarge } from "./errors.ts";
import type { ServerAddress } from "./address.ts";

/** A whole answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

export interface QueryRequest {
  readonly address: ServerAddress;
  readonly parameters: Readonly<Record<string, string>>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Bytes of an answer that are read. */
  readonly limit: number;
}

/** Characters of a path with its query that every server and proxy takes; what is longer is sent as a form. */
const LONGEST_PATH = 4096;

/**
 * Sends a query and reads the answer to its end. Redirects are not followed, so that credentials go only to the server
 * that was named.
 */
export async function exchange(dispatcher: Dispatcher, request: QueryRequest): Promise<HttpAnswer> {
  const { address, parameters, headers, signal, limit } = request;
  const form = new URLSearchParams(parameters).toString();
  const short = `${address.path}?${[address.parameters, form].filter(Boolean).join("&")}`;
  const common = { origin: address.origin, signal, headersTimeout: 0, bodyTimeout: 0 };
  const all = { accept: "application/json", ...headers };
  const answer =
    short.length <= LONGEST_PATH
      ? await dispatcher.request({ ...common, method: "GET", path: short, headers: all })
      : await dispatcher.request({
          ...common,
          method: "POST",
          path: address.path + (address.parameters === "" ? "" : `?${address.parameters}`),
          headers: { ...all, "content-type": "application/x-www-form-urlencoded" },
          body: form,
        });
  const { location } = answer.headers;
  return {
    status: answer.statusCode,
    location: typeof location === "string" ? location : location?.[0],
    body: await readWhole(answer.body, limit),
  };
}

async function readWhole(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new AnswerTooLarge({ limit });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
