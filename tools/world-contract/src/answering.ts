import type { ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a starting process is asked whether it serves, in milliseconds. */
const PAUSE = 100;

/** Resolves when `url` answers with `status`. Fails when the process ends first or `limit` milliseconds are over. */
export async function answering(url: string, process: ChildProcess, limit: number, status = 200): Promise<void> {
  const end = performance.now() + limit;
  for (;;) {
    if (process.exitCode !== null || process.signalCode !== null)
      throw new Error(
        `the process of ${url} ended before it answered: ${String(process.exitCode ?? process.signalCode)}`,
      );
    const ok = await fetch(url, { signal: AbortSignal.timeout(limit) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status === status;
      },
      () => false,
    );
    if (ok) return;
    if (performance.now() > end) throw new Error(`${url} did not answer within ${limit} ms`);
    await sleep(PAUSE);
  }
}

/** Ends a process that this test started. Resolves when it is gone. */
export async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const gone = new Promise((resolve) => process.once("exit", resolve));
  process.kill("SIGKILL");
  await gone;
}

/** A loopback port without a listener. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
