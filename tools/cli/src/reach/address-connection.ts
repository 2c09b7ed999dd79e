import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { type Environment, explain } from "@evenkeel/runtime";
import { Unanswered } from "../errors.ts";
import { type Connection, type ServiceRequest, targetOf } from "./connection.ts";
import { serviceRefusal } from "./service-refusal.ts";

/** Maximum bytes that are read of an error response. */
const REFUSAL_LIMIT = 64 * 1024;

/** An admin port at an address. HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply, except for loopback addresses. */
export class AddressConnection implements Connection {
  readonly place: string;
  readonly #base: URL;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #token: string | undefined;

  constructor(address: URL, env: Environment, token?: string) {
    this.#base = address;
    this.#token = token;
    this.place = `${address.protocol}//${address.host}${address.pathname.replace(/\/$/, "")}`;
    const options = { keepAlive: true, ...(isLoopback(address.hostname) ? {} : { proxyEnv: { ...env } }) };
    this.#agent = address.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  async send(request: ServiceRequest): Promise<Readable> {
    const answer = await this.#exchange(request);
    const { statusCode: status = 0 } = answer;
    if (status >= 200 && status < 300) return answer;
    throw serviceRefusal(this.place, status, await this.#head(answer));
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(request: ServiceRequest): Promise<IncomingMessage> {
    const { method = "GET", body, accept = "application/json", signal } = request;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      accept,
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    };
    const url = new URL(this.#base.pathname.replace(/\/$/, "") + targetOf(request), this.#base);
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const sending = send(url, { method, headers, signal, agent: this.#agent }, resolve);
      sending.on("error", (cause) => {
        reject(
          signal.aborted ? (signal.reason as Error) : new Unanswered({ place: this.place, fault: explain(cause) }),
        );
      });
      sending.end(text);
    });
  }

  async #head(answer: IncomingMessage): Promise<string> {
    let text = "";
    try {
      for await (const chunk of answer.setEncoding("utf8")) {
        text += chunk as string;
        if (text.length >= REFUSAL_LIMIT) break;
      }
    } catch {
      // The status is enough; the body could not be read.
    }
    return text;
  }
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}
