import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { bytes } from "./bytes.ts";
import { World } from "./world.ts";

const MIB = 2 ** 20;
const soak = process.env["SOAK"] === "1";
const SIZE = soak ? 1024 * MIB : 256 * MIB;
/** Bytes a second that a slow reader takes: a small part of what the pod could send. */
const SLOW = 32 * MIB;
/** Milliseconds between two looks at the memory of the process. */
const LOOK = 250;

/** As the image and the chart start it. */
const NODE_FLAGS = ["--max-semi-space-size=1", "--v8-pool-size=1"];
const IMAGE_ENV = { ...process.env, NODE_ENV: "production", MALLOC_ARENA_MAX: "1" };

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 33 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Bytes of a process that are in memory. */
function residentSize(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/** Looks at the memory of a process from now on; what it gives ends that, and says by how many bytes it had grown at most. */
function watchMemory(pid: number): () => { readonly grown: number; readonly looks: number } {
  const before = residentSize(pid);
  const sizes: number[] = [];
  const timer = setInterval(() => sizes.push(residentSize(pid)), LOOK);
  return () => {
    clearInterval(timer);
    return { grown: Math.max(...sizes) - before, looks: sizes.length };
  };
}

/** Takes an answer at a pace, in bytes a second, and gives what it hashes to. */
async function take(answer: IncomingMessage, pace: number): Promise<string> {
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

describe(`a download of ${SIZE / MIB} MiB${soak ? "" : " (1 GiB with SOAK=1)"}`, () => {
  test.each([
    { reader: "fast", pace: Infinity },
    { reader: "slow", pace: SLOW },
  ])(
    "from a pod that was woken for it comes whole to a $reader reader, and the process stays as small as it was",
    async ({ pace }) => {
      await world.workload("shop", 0);
      const service = world.serve([], { nodeFlags: NODE_FLAGS, env: IMAGE_ENV });
      await world.elasti("shop", { triggers: undefined });
      await world.sleeps("shop");
      const port = (await world.get("shop")).status?.ports?.[0]?.port;
      const stop = watchMemory(service.pid);
      const asked = request({ host: "127.0.0.1", port, path: `/bytes/${SIZE}`, agent: false }).end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
      const got = await take(answer, pace);
      const { grown, looks } = stop();
      const sent = createHash("sha256");
      for (const part of bytes(SIZE)) sent.update(part);
      expect(got).toBe(sent.digest("hex"));
      expect(looks).toBeGreaterThan(0);
      expect(grown).toBeLessThan(48 * MIB);
    },
    soak ? 180_000 : 60_000,
  );
});
