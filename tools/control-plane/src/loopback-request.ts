import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { type Agent, request as httpsRequest } from "node:https";
import type { CertificateFiles } from "./certificates.ts";

export interface LoopbackRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Certificate authority that a server reached by https must be vouched for by. */
  readonly caFile?: string;
  /** Whom to be; without it the request is anonymous. */
  readonly client?: CertificateFiles;
  /** Keeps connections for a series of requests. Without it each has its own, so that a restarted server is met afresh. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

export interface LoopbackResponse {
  readonly status: number;
  readonly body: string;
}

/** A server on this machine that is silent for so long will not answer any more, in milliseconds. */
const TIMEOUT_MS = 15_000;

/** Sends one request to a server on this machine; any status is an answer. */
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
