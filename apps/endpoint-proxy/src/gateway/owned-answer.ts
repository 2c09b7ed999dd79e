import { type Answer, type AnswerRequest, type AnswerResponse, forwardErrors } from "@evenkeel/forward";
import { CodedError, explain } from "@evenkeel/runtime";
import type { Reach } from "../members/member-client.ts";
import { BodyTooLarge, MemberUnreachable } from "./errors.ts";
import { BODY_LIMIT, type GatewayRequest, IDENTITY_HEADERS } from "./gateway-request.ts";
import type { GatewayDeadlines } from "./forwarding.ts";
import type { Identity } from "./identity.ts";
import type { OwnedRequest, OwnedResponse } from "./owner-answers.ts";
import { askedFor } from "./reach/asked-for.ts";
import type { MemberConnections } from "./reach/member-connections.ts";
import { refusalOf } from "./refused.ts";
import { RequestRefused } from "./request-refused.ts";

/** A request as an owner sees it, before the owner says whether it answers. */
export class Owned implements OwnedRequest {
  readonly identity: Identity;
  readonly #request: GatewayRequest;
  /** Created when it is needed, because most requests go to one member and are never taken. */
  #taken: PromiseWithResolvers<AnswerRequest> | undefined;
  #gone: AbortController | undefined;

  constructor(request: GatewayRequest, identity: Identity) {
    this.#request = request;
    this.identity = identity;
  }

  get method(): string {
    return this.#request.exchange.method;
  }

  get path(): string {
    return this.#request.path;
  }

  get signal(): AbortSignal {
    this.#gone ??= new AbortController();
    return this.#gone.signal;
  }

  header(name: string): string | undefined {
    return this.#request.exchange.header(name);
  }

  async body(): Promise<Buffer> {
    return bodyOf(this.#request, await this.#taking.promise);
  }

  /** The owner answers. From now on the body can be read. */
  take(request: AnswerRequest): void {
    this.#gone ??= new AbortController();
    const gone = this.#gone;
    request.signal.addEventListener("abort", () => gone.abort(request.signal.reason), { once: true });
    if (request.signal.aborted) gone.abort(request.signal.reason);
    this.#taking.resolve(request);
  }

  get #taking(): PromiseWithResolvers<AnswerRequest> {
    this.#taken ??= Promise.withResolvers<AnswerRequest>();
    return this.#taken;
  }
}

/** The owner answers. */
export function answerByOwner(
  request: GatewayRequest,
  owned: Owned,
  answer: (response: OwnedResponse) => Promise<void>,
  { idle }: GatewayDeadlines,
): Answer {
  const { auditId, exchange } = request;
  const asks = (name: string) => {
    if (!request.members.includes(name)) request.members = [...request.members, name];
  };
  const client = { auditId, userAgent: exchange.header("user-agent"), asks };
  // Members have deadlines of their own until the head.
  return answered(request, { response: 0, idle }, async (asked, response) => {
    owned.take(asked);
    await askedFor.run(client, () => answer(response));
  });
}

/**
 * Reads a body whose length is not announced before any of it is sent: a member must get nothing of a request that
 * turns out to be too large or malformed.
 */
export function answerUnmeasured(
  request: GatewayRequest,
  reach: Reach,
  { connections, deadlines }: { readonly connections: MemberConnections; readonly deadlines: GatewayDeadlines },
): Answer {
  return answered(request, deadlines, async (asked, response) => {
    const body = await bodyOf(request, asked);
    const { origin, host, prefix } = reach;
    const scheme = origin.tls ? "https" : "http";
    const address = origin.host.includes(":") ? `[${origin.host}]` : origin.host;
    const headers = [...clientHeaders(request), ...reach.headers, "host", host, "audit-id", request.auditId];
    const [cluster = ""] = request.members;
    let answer;
    try {
      answer = await connections.to(origin).request({
        ...{ origin: `${scheme}://${address}:${origin.port}`, path: prefix + request.path, body, headers },
        ...{ method: request.exchange.method, signal: asked.signal, headersTimeout: 0, bodyTimeout: 0 },
      });
    } catch (cause) {
      throw new MemberUnreachable({ cluster, fault: explain(cause) }, { cause });
    }
    response.head(answer.statusCode, answerHeaders(answer.headers));
    for await (const part of answer.body) await response.write(part as Buffer);
    response.end();
  });
}

/** Runs an answer with its line in the audit log. What is thrown before the head becomes a Status. */
function answered(
  request: GatewayRequest,
  deadlines: GatewayDeadlines,
  run: (asked: AnswerRequest, response: OwnedResponse) => Promise<void>,
): Answer {
  return {
    answer: async (asked, response) => {
      const audited = new AuditedResponse(request, response);
      try {
        await run(asked, audited);
      } catch (thrown) {
        const refusal = audited.isBegun ? undefined : refusalOf(thrown);
        if (refusal === undefined) throw thrown;
        request.code = refusal.code;
        const code = refusal.code === undefined ? [] : ["evenkeel-error", refusal.code];
        audited.head(refusal.status, [...(refusal.headers ?? []), ...code]);
        await audited.write(refusal.body ?? "");
        audited.end();
      }
    },
    deadlines: request.isLongRunning ? { response: 0, idle: 0 } : deadlines,
    settled: ({ status }) => request.end(status),
  };
}

class AuditedResponse implements OwnedResponse {
  isBegun = false;
  readonly #request: GatewayRequest;
  readonly #response: AnswerResponse;

  constructor(request: GatewayRequest, response: AnswerResponse) {
    this.#request = request;
    this.#response = response;
  }

  head(status: number, headers: readonly string[]): void {
    this.isBegun = true;
    this.#response.head(status, [...headers, "audit-id", this.#request.auditId]);
  }

  write(part: Buffer | string): Promise<void> {
    return this.#response.write(part);
  }

  end(): void {
    this.#response.end();
  }
}

async function bodyOf(request: GatewayRequest, asked: AnswerRequest): Promise<Buffer> {
  request.holdBody();
  try {
    return await asked.body(BODY_LIMIT);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== forwardErrors.BodyTooLong.entry.code) throw error;
    throw new RequestRefused(413, new BodyTooLarge({ limit: BODY_LIMIT }, { cause: error }));
  }
}

/** Of one connection, or written anew. */
const NOT_PASSED =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|host|content-length|expect|audit-id)$/;

function clientHeaders({ exchange: { headers } }: GatewayRequest): string[] {
  const { names, prefixes } = IDENTITY_HEADERS;
  return pairs(headers).flatMap(([name, value]) => {
    const isIdentity = names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
    return isIdentity || NOT_PASSED.test(name) ? [] : [name, value];
  });
}

function answerHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): string[] {
  return Object.entries(headers).flatMap(([name, value = []]) => {
    if (NOT_PASSED.test(name) && name !== "content-length") return [];
    return (typeof value === "string" ? [value] : value).flatMap((one) => [name, one]);
  });
}

/** Names in lower case. */
function pairs(list: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let index = 0; index < list.length; index += 2) {
    found.push([(list[index] as string).toLowerCase(), list[index + 1] as string]);
  }
  return found;
}
