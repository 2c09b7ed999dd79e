import { setTimeout as pause } from "node:timers/promises";

/** How long a busy machine may take for what an idle one does in a moment, in milliseconds. */
const PATIENCE = 15_000;

/** Between two checks unless told, in milliseconds. */
const PERIOD = 20;

/**
 * Repeats `check` until it neither throws nor gives `false`, and resolves with what it gave. Rejects after `within`
 * milliseconds with what `check` threw last. `period` is the milliseconds between two checks, for one that is costly or
 * whose moment is measured.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  within = PATIENCE,
  period = PERIOD,
): Promise<Exclude<T, false>> {
  const end = performance.now() + within;
  for (;;) {
    let last: unknown;
    try {
      const result = await check();
      if (result !== false) return result as Exclude<T, false>;
      last = new Error(`still false after ${within} ms: ${check.toString()}`);
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) throw last;
    await pause(period);
  }
}
