import { createHash } from "node:crypto";
import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { HOST } from "./gate-world.ts";

export interface Asked {
  readonly id?: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: Buffer | string;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds. */
  readonly took: number;
}

/** Sends one request, on a new connection unless there is an agent. */
export function ask(port: number, { id = "", method, path = "/", body, headers, agent }: Asked = {}): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: HOST,
        port,
        path,
        method: method ?? (body === undefined ? "GET" : "POST"),
        agent: agent ?? false,
        headers: {
          ...(id === "" ? {} : { "x-id": id }),
          ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text,
            took: performance.now() - began,
          }),
        );
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

export function digestOf(body: Buffer | string): string {
  return createHash("sha1").update(body).digest("hex");
}
