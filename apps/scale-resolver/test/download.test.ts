import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { digestOfBytes } from "./bytes.ts";
import { imageStart } from "./image-start.ts";
import { MemoryWatch } from "./process-memory.ts";
import { World } from "./world.ts";

const MIB = 2 ** 20;
/** Bytes a second that a slow reader takes: a small part of what the pod could send. */
const SLOW = 32 * MIB;

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 48 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

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

describe("a download", () => {
  test.each([
    { size: 1024, reader: "fast", pace: Infinity },
    { size: 256, reader: "slow", pace: SLOW },
  ])(
    "of $size MiB from a pod that was woken for it comes whole to a $reader reader, and the process stays as small as it was",
    async ({ size, pace }) => {
      const bytes = size * MIB;
      await world.workload("shop", 0);
      const service = world.serve([], imageStart());
      await world.elasti("shop", { triggers: undefined });
      await world.sleeps("shop");
      const port = (await world.get("shop")).status?.ports?.[0]?.port;
      using memory = new MemoryWatch(service.pid);
      const asked = request({ host: "127.0.0.1", port, path: `/bytes/${bytes}`, agent: false }).end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
      const got = await take(answer, pace);
      expect(got).toBe(digestOfBytes(bytes));
      expect(memory.looks).toBeGreaterThan(0);
      expect(memory.grown).toBeLessThan(48 * MIB);
    },
    120_000,
  );
});
