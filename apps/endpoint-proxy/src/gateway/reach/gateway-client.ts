import type { Dispatcher } from "undici";
import { type Clock, CodedError, explain } from "@evenkeel/runtime";
import type { Member } from "../../members/member.ts";
import type { MemberAccess, MemberAnswer, MemberClient, MemberRequest, Reach } from "../../members/member-client.ts";
import { AnswerTooLarge, MemberUnreachable, OriginalPeer } from "../errors.ts";
import type { Identity } from "../identity.ts";
import { isLongRunning, kubeRequest } from "../kube-path.ts";
import { askedFor } from "./asked-for.ts";
import type { MemberConnections } from "./member-connections.ts";
import { readsScores } from "./reads-scores.ts";

export interface GatewayClientOptions {
  readonly access: MemberAccess;
  readonly connections: MemberConnections;
  readonly clock: Clock;
  /** Milliseconds until the head of an answer, unless a request says otherwise. */
  readonly deadline: number;
  /** Milliseconds without a byte of an answer's body, unless it is one that lasts, such as a watch. */
  readonly idle: number;
}

/**
 * Asks members over connections that are kept open. A read whose connection broke before an answer is sent once more.
 */
export class GatewayClient implements MemberClient {
  readonly #options: GatewayClientOptions;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
  }

  async ask(member: Member, identity: Identity, request: MemberRequest): Promise<MemberAnswer> {
    const { method, path } = request;
    if (member.original && !readsScores(method, path)) throw new OriginalPeer({ cluster: member.name });
    askedFor.getStore()?.asks(member.name);
    const reach = await this.#options.access.reach(member, identity);
    try {
      return await this.#send(member, reach, request);
    } catch (error) {
      const isRead = method === "GET" || method === "HEAD";
      if (!isRead || request.signal.aborted || !isBroken(error)) throw unreachable(member, request, error);
    }
    try {
      return await this.#send(member, reach, request);
    } catch (error) {
      throw unreachable(member, request, error);
    }
  }

  async #send({ name }: Member, reach: Reach, request: MemberRequest): Promise<MemberAnswer> {
    const { connections, clock, idle } = this.#options;
    const { method, path, body, contentType, accept, signal, deadline = this.#options.deadline } = request;
    const { origin, host, prefix } = reach;
    const headers = ["host", host, "accept-encoding", "identity", ...reach.headers];
    if (contentType !== undefined) headers.push("content-type", contentType);
    if (accept !== undefined) headers.push("accept", accept);
    const client = askedFor.getStore();
    if (client) headers.push("audit-id", client.auditId);
    if (client?.userAgent !== undefined) headers.push("user-agent", client.userAgent);
    const ended = new AbortController();
    const abort = () => ended.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const cancel = clock.schedule(deadline, () => ended.abort(new Error(`no answer within ${deadline} ms`)));
    try {
      const answer = await connections.to(origin).request({
        ...{ origin: originText(origin), path: prefix + path, method, headers, signal: ended.signal },
        ...{ body: body ?? null, headersTimeout: 0, bodyTimeout: lasts(request) ? 0 : idle },
      });
      answer.body.once("close", () => signal.removeEventListener("abort", abort));
      if (answer.statusCode === 401) reach.refused?.();
      return new ReceivedAnswer(name, answer);
    } catch (error) {
      signal.removeEventListener("abort", abort);
      throw error;
    } finally {
      cancel();
    }
  }
}

class ReceivedAnswer implements MemberAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly retryAfter: number | undefined;
  readonly body: AsyncIterable<Buffer>;
  readonly #member: string;
  readonly #answer: Dispatcher.ResponseData;

  constructor(member: string, answer: Dispatcher.ResponseData) {
    this.#member = member;
    this.#answer = answer;
    this.status = answer.statusCode;
    this.contentType = String(answer.headers["content-type"] ?? "");
    this.warnings = warningsOf(answer.headers["warning"]);
    this.retryAfter = secondsOf(answer.headers["retry-after"]);
    this.body = answer.body;
    // A body that nobody reads to its end reports its abort here.
    answer.body.on("error", () => undefined);
  }

  async read(limit: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of this.#answer.body) {
        size += (part as Buffer).length;
        if (size > limit) throw new AnswerTooLarge({ cluster: this.#member, limit });
        parts.push(part as Buffer);
      }
    } catch (cause) {
      if (cause instanceof CodedError) throw cause;
      throw new MemberUnreachable({ cluster: this.#member, fault: explain(cause) }, { cause });
    }
    return Buffer.concat(parts, size);
  }

  cancel(): void {
    this.#answer.body.destroy();
  }
}

/** The texts of `Warning: 299 - "text"` headers. */
function warningsOf(header: string | readonly string[] | undefined): string[] {
  const lines = header === undefined ? [] : typeof header === "string" ? [header] : header;
  return lines.flatMap((line) =>
    Array.from(line.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g), ([, text = ""]) => text.replaceAll(/\\(.)/g, "$1")),
  );
}

/** Of a `Retry-After` in seconds, as API servers send it; the form with a date is not read. */
function secondsOf(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

function unreachable({ name }: Member, { signal }: MemberRequest, cause: unknown): unknown {
  if (signal.aborted || cause instanceof CodedError) return signal.aborted ? signal.reason : cause;
  return new MemberUnreachable({ cluster: name, fault: explain(cause) }, { cause });
}

function lasts({ method, path }: MemberRequest): boolean {
  const request = kubeRequest(method, path);
  return request !== undefined && isLongRunning(request, path, false);
}

function isBroken(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ECONNRESET" || code === "UND_ERR_SOCKET" || code === "EPIPE";
}

function originText({ host, port, tls }: Reach["origin"]): string {
  return `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
