import type { Clock } from "@evenkeel/runtime";

/**
 * Runs `work` with a signal that aborts after `milliseconds` or with the outer one. It waits for `work` to reject,
 * because that error says best why it took so long.
 */
export async function withTimeLimit<T>(
  clock: Clock,
  milliseconds: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.schedule(milliseconds, () => limit.abort(new Error(`no answer within ${milliseconds} ms`)));
  try {
    return await work(AbortSignal.any([outer, limit.signal]));
  } finally {
    cancel();
  }
}
