/** Time, as the only way that code outside a main learns it. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for stamps that people read. It may jump. */
  now(): number;
  /** Milliseconds since an arbitrary start; never jumps: for durations. */
  monotonic(): number;
  /** Calls `task` once after `delay` milliseconds, unless the returned function is called before. */
  schedule(delay: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (delay, task) => {
    const timer = setTimeout(task, delay);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delay` milliseconds; rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const abort = () => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.schedule(delay, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}
