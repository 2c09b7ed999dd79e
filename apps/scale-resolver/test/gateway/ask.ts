import { createHash } from "node:crypto";
import { ask as askPlace, type Answer, type AskOptions } from "../ask.ts";
import { HOST } from "./gate-world.ts";

export type { Answer } from "../ask.ts";

export interface Asked extends AskOptions {
  readonly id?: string;
}

/** Sends one request to a port of the gate: a POST if it has a body, unless there is a method. */
export function ask(port: number, { id = "", body, headers, ...rest }: Asked = {}): Promise<Answer> {
  const own = {
    ...(id === "" ? {} : { "x-id": id }),
    ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
  };
  const sent = body === undefined ? {} : { method: "POST", body };
  return askPlace({ host: HOST, port }, { ...sent, ...rest, headers: { ...own, ...headers } });
}

export function digestOf(body: Buffer | string): string {
  return createHash("sha1").update(body).digest("hex");
}
