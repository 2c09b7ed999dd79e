import type { Clock } from "./clock.ts";
import { DeadlineExceeded } from "./errors.ts";

export interface Deadline {
  readonly clock: Clock;
  /** How long the work may take. */
  readonly milliseconds: number;
  /** Aborts the work earlier, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** What is waited for, as the error will name it. */
  readonly what: string;
}

/**
 * Runs `work` with a signal that aborts at the deadline or with the outer signal. The promise rejects then even if
 * `work` ignores its signal, so that no caller hangs on a peer that does.
 */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, milliseconds, signal: outer, what } = deadline;
  outer?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", abort, { once: true });
  const cancel = clock.schedule(milliseconds, () => controller.abort(new DeadlineExceeded({ what, milliseconds })));
  try {
    return await Promise.race([work(controller.signal), aborted(controller.signal)]);
  } finally {
    cancel();
    outer?.removeEventListener("abort", abort);
  }
}

/** Rejects with the signal's reason when it aborts; otherwise never settles. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
