import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { bytes, digestOfBytes } from "./bytes.ts";
import { textOf } from "./echo-pod.ts";
import { imageStart } from "./image-start.ts";
import { MemoryWatch } from "./process-memory.ts";
import { IN_SOAK } from "./soak.ts";
import { World } from "./world.ts";

jest.setTimeout(120_000);

const MIB = 2 ** 20;
/** More than the buffers of sender and receiver. */
const BUFFERS = 32 * MIB;

/** In MiB. Each is at least twice what the process may grow by. */
const UPLOAD = IN_SOAK ? 1024 : 64;
const SLOW_DOWNLOAD = IN_SOAK ? 256 : 96;
const FAST_DOWNLOAD = 1024;

/** Bytes a second of a slow reader: a small part of what the pod could send. */
const SLOW = 32 * MIB;

/** A world with a service at 0 replicas, and a process with the flags of its image. */
async function start() {
  const world = await World.start();
  const service = world.serve([], imageStart());
  await world.atZero("shop");
  const port = (await world.get("shop")).status?.ports?.[0]?.port;
  return { world, service, port, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** Reads a response at a rate in bytes per second, and returns its hash. */
async function read(answer: IncomingMessage, pace: number): Promise<string> {
  const hash = createHash("sha256");
  const began = performance.now();
  let taken = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    hash.update(part);
    taken += part.length;
    const early = (taken / pace) * 1000 - (performance.now() - began);
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
  }
  return hash.digest("hex");
}

test.concurrent(
  `an upload of ${UPLOAD} MiB is held unread and then sent completely, and the process does not grow`,
  async () => {
    await using scene = await start();
    const { world, service, port } = scene;
    const size = UPLOAD * MIB;
    const metrics = await service.url("admin", "/metrics");
    // No pod starts before this is over.
    const wake = world.faults.add({ fault: { kind: "status", code: 500 }, verb: "patch", resource: "deployments" });

    using memory = new MemoryWatch(service.pid);
    const headers = { "content-length": size };
    const asked = request({ host: "127.0.0.1", port, method: "PUT", path: "/digest", headers, agent: false });
    const answered = once(asked, "response") as Promise<[IncomingMessage]>;
    let sent = 0;
    const writing = (async () => {
      for (const part of bytes(size)) {
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
    expect(await textOf(answer)).toMatch(new RegExp(`^shop-\\S+ PUT /digest ${digestOfBytes(size)}$`));
    expect(memory.looks).toBeGreaterThan(2);
    expect(memory.grown).toBeLessThan(24 * MIB);
  },
);

test.concurrent.each([
  { size: SLOW_DOWNLOAD, reader: "slow", pace: SLOW },
  ...(IN_SOAK ? [{ size: FAST_DOWNLOAD, reader: "fast", pace: Infinity }] : []),
])(
  "a download of $size MiB from a pod that was woken for it reaches a $reader reader completely, and the process does not grow",
  async ({ size, pace }) => {
    await using scene = await start();
    using memory = new MemoryWatch(scene.service.pid);
    const asked = request({ host: "127.0.0.1", port: scene.port, path: `/bytes/${size * MIB}`, agent: false }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
    expect(await read(answer, pace)).toBe(digestOfBytes(size * MIB));
    expect(memory.looks).toBeGreaterThan(0);
    expect(memory.grown).toBeLessThan(48 * MIB);
  },
);
