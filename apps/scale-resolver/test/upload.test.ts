import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { metricOf } from "./asking.ts";
import { bytes, digestOfBytes } from "./bytes.ts";
import { textOf } from "./echo-pod.ts";
import { imageStart } from "./image-start.ts";
import { MemoryWatch } from "./process-memory.ts";
import { eventually, World } from "./world.ts";

const MIB = 2 ** 20;
const SIZE = 1024 * MIB;
/** More than the buffers of sender and receiver take. */
const BUFFERS = 32 * MIB;

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 47 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

test("an upload of 1 GiB is held unread and then sent whole, and the process stays as small as it was", async () => {
  await world.workload("shop", 0);
  const service = world.serve([], imageStart());
  await world.elasti("shop", { triggers: undefined });
  await world.sleeps("shop");
  const port = (await world.get("shop")).status?.ports?.[0]?.port;
  const metrics = await service.url("admin", "/metrics");
  // No pod comes before this is over.
  const wake = world.faults.add({ fault: { kind: "status", code: 500 }, verb: "patch", resource: "deployments" });

  using memory = new MemoryWatch(service.pid);
  const headers = { "content-length": SIZE };
  const asked = request({ host: "127.0.0.1", port, method: "PUT", path: "/digest", headers, agent: false });
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  let sent = 0;
  const writing = (async () => {
    for (const part of bytes(SIZE)) {
      sent += part.length;
      if (!asked.write(part)) await once(asked, "drain");
    }
    asked.end();
  })();
  await eventually(async () => {
    const before = sent;
    expect(await metricOf(metrics, "evenkeel_resolver_pending", { service: "shop" })).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(sent).toBe(before);
  });
  expect(sent).toBeLessThan(BUFFERS);

  wake();
  await writing;
  const [answer] = await answered;
  expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
  expect(await textOf(answer)).toMatch(new RegExp(`^shop-\\S+ PUT /digest ${digestOfBytes(SIZE)}$`));
  expect(memory.looks).toBeGreaterThan(2);
  expect(memory.grown).toBeLessThan(24 * MIB);
}, 120_000);
