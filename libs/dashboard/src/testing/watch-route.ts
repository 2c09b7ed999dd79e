import { Readable } from "node:stream";
import type { Decision, DecisionSource, HttpServer } from "@evenkeel/runtime";

/**
 * `Decisions/Watch` as the JSON gateway of `rpc` serves it, for a test service without gRPC: the past, the news, and
 * `end` when `stopping` aborts.
 */
export function watchRoute(routes: HttpServer["routes"], source: DecisionSource, stopping: AbortSignal): void {
  routes.get<{ Querystring: { last?: string } }>("/api/v1/Decisions/Watch", async (request, reply) => {
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const news = source.watch({}, AbortSignal.any([gone.signal, stopping]));
    const past = (await source.list({}, Number(request.query.last ?? 0))).toReversed();
    reply.type("text/event-stream; charset=utf-8");
    return reply.send(Readable.from(events(past, news)));
  });
}

async function* events(past: readonly Decision[], news: AsyncIterable<Decision>): AsyncGenerator<string> {
  yield ": open\n\n";
  for (const decision of past) yield `data: ${JSON.stringify({ decision })}\n\n`;
  for await (const decision of news) yield `data: ${JSON.stringify({ decision })}\n\n`;
  yield "event: end\ndata: {}\n\n";
}
