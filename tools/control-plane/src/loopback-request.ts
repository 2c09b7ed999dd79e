import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { type Agent, request as httpsRequest } from "node:https";
import type { CertificateFiles } from "./certificates.ts";

export interface LoopbackRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The CA of a server with https. */
  readonly caFile?: string;
  /** The client certificate; without it the request is anonymous. */
  readonly client?: CertificateFiles;
  /**
   * Keeps connections for a series of requests. Without it each request has its own, so that it reaches a restarted
   * server.
   */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

export interface LoopbackResponse {
  readonly status: number;
  readonly body: string;
}

/** Milliseconds of silence after which a server on this machine counts as dead. */
const TIMEOUT_MS = 15_000;

/** Sends one request to a server on this machine. Any status is a result. */
export async function requestLoopback(options: LoopbackRequest): Promise<LoopbackResponse> {
  const { url, method = "GET", body, caFile, client, agent = false, signal } = options;
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<LoopbackResponse>();
  const request = send(
    url,
    {
      method,
      agent,
      timeout: TIMEOUT_MS,
      ...(signal === undefined ? {} : { signal }),
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
      ...(client === undefined ? {} : { cert: readFileSync(client.certificate), key: readFileSync(client.key) }),
    },
    (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on("error", reject);
    },
  );
  request.on("timeout", () => request.destroy(new Error(`${url} did not answer in ${TIMEOUT_MS / 1000} s`)));
  request.on("error", reject);
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}
