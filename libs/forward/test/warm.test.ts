import { expect, test } from "@jest/globals";
import { HttpUpstream, Stage } from "./parts/stage.ts";

test("warms the whole path up, and leaves nothing behind: no socket, no timer, no count", async () => {
  await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
  await using stage = await Stage.start({ origin: upstream.origin });
  const before = await stage.registry.text();
  const warmth = await stage.forwarder.warm({ requests: 100 });
  expect(warmth.requests).toBe(400);
  expect(stage.forwarder.counts()).toEqual({
    exchanges: 0,
    tunnels: 0,
    clientSockets: 0,
    upstreamSockets: 0,
    timers: 0,
    origins: 0,
  });
  expect(await stage.registry.text()).toBe(before);
  expect(await (await fetch(stage.url)).text()).toBe("ok");
});

test("ends its warm-up when the time for it is over", async () => {
  await using stage = await Stage.start({});
  const { requests } = await stage.forwarder.warm({ requests: 1_000_000, within: 1 });
  expect(requests).toBeLessThan(1_000);
});
