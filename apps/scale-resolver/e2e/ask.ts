import { randomBytes, createHash } from "node:crypto";
import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "@jest/globals";
import { type Arrival, DRIP, DRIPS } from "./pod-programs.ts";

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Sent one after the other, without a content length. */
  readonly parts?: readonly Buffer[];
  /** Default: a new connection. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Sends one request, without a retry. */
export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const { body, parts, agent = false, headers = {} } = question;
  const method = question.method ?? (body === undefined && parts === undefined ? "GET" : "POST");
  const asked = request(url, { method, headers, agent });
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  void send(asked, body, parts);
  const [answer] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString("latin1") };
}

async function send(
  asked: ReturnType<typeof request>,
  body: string | Buffer | undefined,
  parts: readonly Buffer[] = [],
): Promise<void> {
  for (const part of parts) {
    asked.write(part);
    await pause(5);
  }
  asked.end(body);
}

/** What the pod received, by its own response. */
export function arrivalIn({ status, body }: Answer): Arrival {
  expect({ status, body }).toMatchObject({ status: 200 });
  return JSON.parse(body) as Arrival;
}

/**
 * The kinds of traffic of KubeElasti's second scenario. Each sends one request, and throws unless the response is
 * complete and correct.
 */
export const TRAFFIC: Readonly<Record<string, (url: string) => Promise<Answer>>> = {
  small: async (url) => {
    const answer = await ask(`${url}/small`);
    expect(arrivalIn(answer)).toMatchObject({ method: "GET", path: "/small", bytes: 0 });
    return answer;
  },
  mebibyte: async (url) => {
    const body = randomBytes(1024 * 1024);
    const answer = await ask(`${url}/mebibyte`, { body });
    const digest = createHash("sha256").update(body).digest("hex");
    expect(arrivalIn(answer)).toMatchObject({ method: "POST", bytes: body.length, digest });
    return answer;
  },
  drip: async (url) => {
    const answer = await ask(`${url}/drip`);
    expect(answer).toMatchObject({ status: 200, headers: { "content-length": String(DRIPS * DRIP.length) } });
    expect(answer.body).toBe(DRIP.repeat(DRIPS));
    return answer;
  },
  stream: async (url) => {
    const parts = Array.from({ length: 20 }, () => randomBytes(4096));
    const answer = await ask(`${url}/echo`, { parts });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty("content-length");
    expect(answer.body === Buffer.concat(parts).toString("latin1")).toBe(true);
    return answer;
  },
};

/** Asks again and again, on a connection of its own each time, until it is stopped. */
export class Asking {
  readonly failures: unknown[] = [];
  /** Addresses of the pods that responded, in order, without consecutive repeats. */
  readonly pods: string[] = [];
  answers = 0;
  readonly #loops: readonly Promise<void>[];
  #stopped = false;

  constructor(url: string, clients = 4) {
    this.#loops = Array.from({ length: clients }, () => this.#loop(url));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  async #loop(url: string): Promise<void> {
    while (!this.#stopped) {
      try {
        const { pod } = arrivalIn(await ask(`${url}/again`));
        this.answers += 1;
        if (this.pods.at(-1) !== pod) this.pods.push(pod);
      } catch (error) {
        this.failures.push(error);
      }
      await pause(10);
    }
  }
}
