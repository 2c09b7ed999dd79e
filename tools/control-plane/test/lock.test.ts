import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { withLock } from "../src/lock.ts";

jest.setTimeout(60_000);

const lockFile = join(import.meta.dirname, "../src/lock.ts");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "control-plane-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("work under one lock never overlaps, and failed work frees it", async () => {
  const file = join(folder, "a.lock");
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    throw new Error("failed");
  };
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => withLock(file, work)));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(most).toBe(1);
});

test("the lock of a process falls when that process is killed, and not before", async () => {
  const file = join(folder, "b.lock");
  const source = `
    import { withLock } from ${JSON.stringify(lockFile)};
    setInterval(() => {}, 1000);
    await withLock(${JSON.stringify(file)}, () => { process.stdout.write("held"); return new Promise(() => {}); });
  `;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");

  const waits = Promise.withResolvers<undefined>();
  const events: string[] = [];
  const mine = withLock(
    file,
    () => {
      events.push("locked");
      return Promise.resolve();
    },
    { onWait: () => waits.resolve(undefined) },
  );
  await waits.promise;
  events.push("killing the holder");
  holder.kill("SIGKILL");
  await mine;
  expect(events).toEqual(["killing the holder", "locked"]);
});
