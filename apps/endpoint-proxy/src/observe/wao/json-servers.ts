import type { Component } from "@evenkeel/runtime";
import { Agent, type Dispatcher, request } from "undici";

/** Milliseconds that a predictor or a Redfish server has, as in WAO. */
const DEADLINE = 3000;
/** Largest answer in bytes. */
const LARGEST = 1024 * 1024;
const REQUESTS_AT_ONCE = 16;

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Requests to WAO's servers, which answer with JSON. At most 16 are in progress at once. */
export class JsonServers implements Component {
  readonly name = "WAO servers";
  readonly #dispatcher: Agent;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ insecure }: { readonly insecure: boolean }) {
    this.#dispatcher = new Agent({
      connect: { rejectUnauthorized: !insecure, timeout: DEADLINE },
      maxResponseSize: LARGEST,
      keepAliveTimeout: 30_000,
    });
  }

  /** The answer to a GET, or to a POST of `body`. Rejects with a sentence that a person can read. */
  async ask(url: string, credentials: Credentials | undefined, signal: AbortSignal, body?: unknown): Promise<unknown> {
    await this.#enter();
    try {
      const secret = credentials && Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
      const answer = await request(url, {
        dispatcher: this.#dispatcher,
        signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]),
        headers: {
          accept: "application/json",
          ...(secret !== undefined && { authorization: `Basic ${secret}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { method: "POST" as const, body: JSON.stringify(body) }),
      });
      return await jsonOf(answer);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  stop(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  async #enter(): Promise<void> {
    while (this.#running >= REQUESTS_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
  }
}

async function jsonOf({ statusCode, body }: Dispatcher.ResponseData): Promise<unknown> {
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`it answered with status ${statusCode}`);
  return JSON.parse(text);
}
