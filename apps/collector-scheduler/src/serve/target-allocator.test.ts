import { Agent, get } from "node:http";
import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock } from "@evenkeel/runtime";
import { expect, test } from "@jest/globals";
import { metrics } from "../metrics.ts";
import { bodyOf } from "./body.ts";
import { type AllocatorAnswer, TargetAllocator } from "./target-allocator.ts";

const POLL = { "x-prometheus-refresh-interval-seconds": "10" };

/** A server that gives this answer, and whether each request counted as a poll. */
async function served(answer: () => AllocatorAnswer) {
  const polls: boolean[] = [];
  const server = new TargetAllocator({
    ...{ host: "127.0.0.1", port: 0, tls: false, clock: systemClock },
    answer: (_request, isPoll) => {
      polls.push(isPoll);
      return answer();
    },
    metrics: new MetricRegistry().register(metrics),
  });
  await server.start();
  return {
    ...{ polls, server },
    url: `http://127.0.0.1:${server.port}/jobs/app/targets?collector_id=c-0`,
    [Symbol.asyncDispose]: () => server.stop(AbortSignal.timeout(1000)),
  };
}

test("only what Prometheus's http_sd asks counts as a poll, not a person who looks", async () => {
  await using server = await served(() => ({ body: Buffer.from("[]") }));
  await fetch(server.url, { headers: POLL });
  await fetch(server.url, { method: "HEAD", headers: POLL });
  await fetch(server.url);
  expect(server.polls).toEqual([true, false, false]);
});

test.each(["[]", '["zürich:80"]', '["東京:80"]', `["${"a".repeat(70_000)}"]`, ""])(
  "the bytes of %.12s arrive whole",
  async (text) => {
    await using server = await served(() => ({ body: bodyOf(text) }));
    const answer = await fetch(server.url);
    expect(await answer.text()).toBe(text);
    expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
  },
);

test("an answer that cannot be made is 503 with a sentence", async () => {
  await using server = await served(() => {
    throw new RangeError("Invalid string length");
  });
  const answer = await fetch(server.url);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([503, "text/plain; charset=utf-8"]);
  expect(await answer.text()).not.toBe("");
});

test("draining ends connections that are kept open for the next poll", async () => {
  await using idle = await served(() => ({ body: Buffer.from("[]") }));
  const agent = new Agent({ keepAlive: true });
  await new Promise((resolve) => get(idle.url, { agent }, (answer) => answer.resume().on("end", resolve)));
  expect(await idle.server.drain(AbortSignal.timeout(10_000))).toBe(0);
  agent.destroy();
});
