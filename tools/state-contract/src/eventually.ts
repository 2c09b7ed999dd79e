import { setTimeout as pause } from "node:timers/promises";

/**
 * Polls until `check` gives something other than false or undefined. Rejects after `within` milliseconds, with the last error
 * if there was one.
 */
export async function eventually<T>(
  what: string,
  within: number,
  check: () => Promise<T> | T,
): Promise<NonNullable<T>> {
  const end = performance.now() + within;
  let last: unknown;
  do {
    try {
      const result = await check();
      if (result !== false && result !== undefined && result !== null) return result;
    } catch (error) {
      last = error;
    }
    await pause(20);
  } while (performance.now() < end);
  throw new Error(`not within ${within} ms: ${what}`, { cause: last });
}
