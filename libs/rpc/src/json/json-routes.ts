import { Readable } from "node:stream";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Clock, HttpServer } from "@evenkeel/runtime";
import { type CallContext, Metadata, Status } from "nice-grpc-common";
import { NeedsPost, NoSuchMethod, PlaintextRefused } from "../errors.ts";
import type { BoundMethod, BoundService } from "../server/bound-service.ts";
import { CallFailed } from "../server/calls.ts";
import type { Attachment } from "../server/served.ts";
import { type Outcome, outcomeOf, statusName } from "../status.ts";
import { eventStream } from "./event-stream.ts";
import { httpStatus } from "./http-status.ts";
import { JsonMessages, jsonOfQuery, type Query } from "./json-messages.ts";
import { isPrivate } from "./private-connection.ts";

type Routes = HttpServer["routes"];
type Handler = Parameters<Routes["route"]>[0]["handler"];
type Request = Parameters<Handler>[0];
type Reply = Parameters<Handler>[1];

interface Route {
  readonly method: BoundMethod;
  readonly description: DescMethod;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | Readable;
}

const JSON_TYPE = "application/json; charset=utf-8";

export interface JsonOptions {
  readonly clock: Clock;
  /** Checks the reader of a page that is about every object; reads are open without it. */
  readonly checkPage?: PageCheck | undefined;
}

type PageCheck = (page: string, authorization: string | undefined, signal: AbortSignal) => Promise<void>;

const PATH = "/api/v1/:service/:method";

/**
 * Serves every method of `services` as JSON: `/api/v1/<Service>/<Method>`, by POST with the request as body, and by GET
 * with query parameters where nothing is changed. A stream becomes server-sent events, a failure `{ code, message }`.
 * Limits, rights and the drain are those of gRPC. Calls that change something carry a token, and are refused on a
 * connection that others can read. Where reads need a token, methods that never need one are left to gRPC.
 */
export function jsonRoutes(routes: Routes, services: readonly BoundService[], options: JsonOptions): void {
  const api = new JsonApi(services, options);
  const handler: Handler = async (request, reply) => {
    const { status, headers, body } = await api.answer(request, reply);
    return reply.code(status).headers(headers).send(body);
  };
  routes.route({ method: ["GET", "POST"], url: PATH, handler });
  const { checkPage } = options;
  if (checkPage) guardPages(routes, checkPage);
}

/**
 * Metrics and the files of the dashboard are open; what one service serves at `/dashboard/data` is about its objects.
 */
function isPageWithData(url: string): boolean {
  return url === "/" || url === "/dashboard/data" || url.startsWith("/api/");
}

/**
 * Checks readers of the other pages with data, which are about every object. The methods of services check by what is
 * asked.
 */
function guardPages(routes: Routes, check: PageCheck): void {
  routes.addHook("onRequest", async (request, reply) => {
    const { url = "" } = request.routeOptions;
    if (url === PATH || !isPageWithData(url)) return;
    const { metadata, signal } = contextOf(request, reply);
    try {
      await check(url, metadata.get("authorization"), signal);
    } catch (error) {
      const { status, headers, body } = refusal(error);
      await reply.code(status).headers(headers).send(body);
    }
  });
}

class JsonApi {
  readonly #options: JsonOptions;
  readonly #messages = new JsonMessages();
  readonly #routes = new Map<string, Route>();

  constructor(services: readonly BoundService[], options: JsonOptions) {
    this.#options = options;
    for (const { name, fullName, methods } of services) {
      for (const method of methods.values()) {
        if (options.checkPage && method.forAnyone) continue;
        this.#routes.set(`${name}/${method.name}`, {
          method,
          description: this.#messages.method(fullName, method.name),
        });
      }
    }
  }

  async answer(request: Request, reply: Reply): Promise<Answer> {
    const { service = "", method = "" } = request.params as { service?: string; method?: string };
    const route = this.#routes.get(`${service}/${method}`);
    if (!route) return refusal(new NoSuchMethod({ method: `${service}/${method}`.slice(0, 200) }), 404);
    if (request.method === "GET" && !route.method.safe)
      return refusal(new NeedsPost({ method }), 405, { allow: "POST" });
    if (!route.method.safe && !isPrivate(request.socket)) return refusal(new PlaintextRefused({ method }));
    try {
      return await this.#call(route, request, contextOf(request, reply));
    } catch (error) {
      return refusal(error);
    }
  }

  async #call({ method, description }: Route, request: Request, context: CallContext): Promise<Answer> {
    const json = request.method === "GET" ? jsonOfQuery(description, request.query as Query) : (request.body ?? {});
    const message = method.decode(this.#messages.request(description, json));
    const write = (response: unknown) => this.#messages.response(description, method.encode(response));
    if (method.streams) {
      const stream = await method.open(message, context);
      const events = eventStream(answers(stream, write), this.#options.clock, (error) => told(outcome(error)));
      const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
      return { status: 200, headers, body: Readable.from(events) };
    }
    const response = await method.call(message, context);
    if (method.attachment) return attachment(method.attachment(response));
    return { status: 200, headers: { "content-type": JSON_TYPE }, body: JSON.stringify(write(response)) };
  }
}

async function* answers(items: AsyncIterable<unknown>, write: (item: unknown) => unknown): AsyncGenerator {
  for await (const item of items) yield write(item);
}

function attachment({ name, type, content }: Attachment): Answer {
  const disposition = `attachment; filename="${name.replaceAll(/[^\w.-]/g, "_")}"`;
  return {
    status: 200,
    headers: { "content-type": type, "content-disposition": disposition },
    body: Buffer.from(content),
  };
}

/** A call's context as gRPC would give it. The signal aborts when the caller is gone before it has its answer. */
function contextOf({ headers, ip }: Request, reply: Reply): CallContext {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort(new Error("the caller disconnected")));
  const metadata = Metadata();
  if (headers.authorization !== undefined) metadata.set("authorization", headers.authorization);
  return {
    metadata,
    peer: ip,
    header: Metadata(),
    trailer: Metadata(),
    sendHeader: () => undefined,
    signal: gone.signal,
  };
}

function outcome(error: unknown): Outcome {
  return error instanceof CallFailed ? error.outcome : outcomeOf(error);
}

/** A failure without a code of the catalogue has the name of its gRPC status. */
function told({ status, code, message }: Outcome): { readonly code: string; readonly message: string } {
  return { code: code ?? statusName(status), message };
}

function refusal(error: unknown, status?: number, headers: Readonly<Record<string, string>> = {}): Answer {
  const failed = outcome(error);
  const challenge = failed.status === Status.UNAUTHENTICATED ? { "www-authenticate": "Bearer" } : {};
  return {
    status: status ?? httpStatus(failed.status),
    headers: { "content-type": JSON_TYPE, ...challenge, ...headers },
    body: JSON.stringify(told(failed)),
  };
}
