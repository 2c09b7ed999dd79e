import { once } from "node:events";
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { Pair } from "../src/gateway/testing/test-authority.ts";

export interface Asked {
  readonly method?: string;
  readonly token?: string;
  readonly certificate?: Pair;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of a Status, its code `EK_…`. */
  readonly code: string | undefined;
  /** The body if it is JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Starts a request on a connection of its own, as kubectl would. */
export function begin(base: string, path: string, ca: string, asked: Asked = {}): ClientRequest {
  const { method = "GET", token, certificate, headers = [] } = asked;
  const bearer = token === undefined ? [] : ["authorization", `Bearer ${token}`];
  const framed = asked.body === undefined || headers.some((text) => /^(transfer-encoding|content-length)$/i.test(text));
  const length = framed ? [] : ["content-length", String(Buffer.byteLength(asked.body ?? ""))];
  const named = ["host", new URL(base).host, ...headers, ...bearer, ...length];
  const options = { method, ca, agent: false, ...certificate, headers: named } as RequestOptions;
  const request = httpsRequest(`${base}${path}`, options);
  // A case that looks for an error listens itself.
  request.on("error", () => undefined);
  return request;
}

export async function ask(base: string, path: string, ca: string, asked: Asked = {}): Promise<Answered> {
  const request = begin(base, path, ca, asked);
  const answered = once(request, "response") as Promise<[IncomingMessage]>;
  request.end(asked.body);
  const [response] = await answered;
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  const json = parsed(text);
  const { causes } = (json["details"] ?? {}) as { causes?: readonly { reason?: string }[] };
  return { status: response.statusCode ?? 0, headers: response.headers, text, json, code: causes?.[0]?.reason };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
