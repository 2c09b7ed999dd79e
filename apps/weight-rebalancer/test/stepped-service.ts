import { subscribe } from "node:diagnostics_channel";
import { FakeClock } from "@evenkeel/runtime/testing";
import { WatchedService } from "./watched-service.ts";
import type { World } from "./world.ts";

/** Milliseconds of the clock between two chances for the sockets. */
const STEP = 1000;

/** Rounds of the event loop in which calls on loopback end. */
const ROUNDS = 60;

/**
 * Real milliseconds for which the clock waits for the answer of a call, and then in each step: some are never answered.
 */
const LONGEST_CALL = 2000;
const PATIENCE = 60;

/** Calls of this process that are not answered yet, and when they began; watches are not among them. */
const unanswered = new Map<unknown, number>();
interface CallEvent {
  readonly request: { readonly path: string };
}
for (const begin of ["undici:request:create", "http.client.request.start"])
  subscribe(begin, (event) => {
    const { request } = event as CallEvent;
    if (!request.path.includes("watch=")) unanswered.set(request, performance.now());
  });
const ENDS = [
  "undici:request:trailers",
  "undici:request:error",
  "http.client.response.finish",
  "http.client.request.error",
];
for (const end of ENDS) subscribe(end, (event) => unanswered.delete((event as CallEvent).request));

/** The whole service in this process, on a clock that a test moves. It leads without an election. */
export class SteppedService implements AsyncDisposable {
  readonly clock = new FakeClock(Date.now());
  readonly watched: WatchedService;

  private constructor(world: World, flags: readonly string[]) {
    this.watched = new WatchedService(world, ["--leader-elect=false", ...flags], this.clock);
  }

  static async start(world: World, flags: readonly string[] = []): Promise<SteppedService> {
    // Loading these takes seconds, in which the clock would run into deadlines.
    await Promise.all([
      import("../src/targets/route53/aws-calls.ts"),
      import("../src/targets/route53/aws-sdk.ts"),
      import("yaml"),
    ]);
    return new SteppedService(world, flags);
  }

  /** What the log says of reconciles that failed. */
  get failures(): readonly unknown[] {
    const isBad = (level: unknown) => level === "warn" || level === "error";
    return this.watched.lines.filter(({ level, reconcile }) => reconcile !== undefined && isBad(level));
  }

  async advance(milliseconds: number): Promise<void> {
    await rounds();
    for (let rest = milliseconds; rest > 0; rest -= STEP) {
      await this.clock.advance(Math.min(rest, STEP));
      await rounds();
    }
  }

  /** Moves the clock until `check` does not throw, for at most `limit` milliseconds. */
  async until<T>(check: () => T | Promise<T>, limit = 600_000): Promise<T> {
    const end = this.clock.monotonic() + limit;
    await rounds();
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (this.clock.monotonic() >= end) throw error;
      }
      await this.clock.advance(STEP);
      await rounds();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const state = { ended: false };
    const end = this.watched[Symbol.asyncDispose]().finally(() => (state.ended = true));
    while (!state.ended) await this.advance(STEP);
    await end;
  }
}

async function rounds(): Promise<void> {
  const end = performance.now() + PATIENCE;
  do {
    // A real millisecond for what other threads do, such as reading files.
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (let round = 0; round < ROUNDS; round++) await new Promise((resolve) => setImmediate(resolve));
  } while (isAnswerDue() || (unanswered.size > 0 && performance.now() < end));
}

function isAnswerDue(): boolean {
  const now = performance.now();
  for (const begun of unanswered.values()) if (now - begun < LONGEST_CALL) return true;
  return false;
}
