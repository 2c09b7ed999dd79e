import type { ServerResponse } from "node:http";
import { ApiFault } from "../status.ts";
import type { Document } from "./aggregated-discovery.ts";

/** Answers with the Status of what was thrown. */
export function refuse(response: ServerResponse, error: unknown): void {
  const internal = () => new ApiFault(500, "InternalError", `Internal error occurred: ${String(error)}`);
  const fault = error instanceof ApiFault ? error : internal();
  send(response, fault.code, fault.toStatus());
}

/** A document with an ETag; 304 to a client that has it. */
export function sendDocument(response: ServerResponse, { body, contentType, etag }: Document, known?: string): void {
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (known === etag) response.writeHead(304, headers).end();
  else response.writeHead(200, { ...headers, "content-type": contentType }).end(JSON.stringify(body));
}

export function send(response: ServerResponse, code: number, body: object | string): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain" : "application/json";
  response.writeHead(code, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}
