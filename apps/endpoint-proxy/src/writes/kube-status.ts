import { type Json, writeJson } from "../bodies/json-text.ts";

export interface Cause {
  readonly reason: string;
  readonly message: string;
  /** The cluster, or the path of a field. */
  readonly field?: string;
}

/** A refusal as Kubernetes words it. */
export class KubeFault extends Error {
  readonly code: number;
  readonly status: Json;
  /** Seconds after which clients send the request again by themselves. Only where nothing was written. */
  readonly retryAfter: number | undefined;

  constructor(code: number, reason: string, message: string, causes: readonly Cause[] = [], retryAfter?: number) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
    this.status = {
      ...{
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message,
        reason,
        code,
      },
      ...(causes.length === 0 ? {} : { details: { causes: causes.map((cause) => ({ ...cause })) } }),
    };
  }
}

export const badRequest = (message: string): KubeFault => new KubeFault(400, "BadRequest", message);
export const unsupported = (message: string): KubeFault => new KubeFault(415, "UnsupportedMediaType", message);
export const notFound = (message: string): KubeFault => new KubeFault(404, "NotFound", message);
export const conflict = (message: string): KubeFault => new KubeFault(409, "Conflict", message);
export const invalid = (message: string, causes: readonly Cause[] = []): KubeFault =>
  new KubeFault(422, "Invalid", message, causes);
export const unavailable = (message: string, causes: readonly Cause[]): KubeFault =>
  new KubeFault(503, "ServiceUnavailable", message, causes);

/** What the client gets. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /** Each becomes a `Warning: 299` header, which kubectl prints. */
  readonly warnings: readonly string[];
  /** Seconds. */
  readonly retryAfter?: number | undefined;
}

export function jsonAnswer(status: number, json: Json, warnings: readonly string[] = []): Answer {
  return {
    status,
    contentType: "application/json",
    body: Buffer.from(writeJson(json)),
    warnings,
  };
}

/** kube-apiserver cuts a warning at 256 characters, so longer ones would look cut by accident. */
const WARNING_LIMIT = 256;

/** Alternating names and values. */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  return [...new Set(warnings)].flatMap((text) => {
    const plain = text.replaceAll(/[^\x20-\x7e]/g, "?");
    const cut = plain.length > WARNING_LIMIT ? `${plain.slice(0, WARNING_LIMIT - 3)}...` : plain;
    return ["warning", `299 - "${cut.replaceAll(/["\\]/g, "\\$&")}"`];
  });
}
