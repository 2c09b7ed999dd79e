/** Time, as the only way that code outside a main learns it. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for stamps that people read. It may jump. */
  now(): number;
  /** Milliseconds since an arbitrary start; never jumps: for durations. */
  monotonic(): number;
  /** Calls `task` once after `delay` milliseconds, unless the returned function is called before. */
  schedule(delay: number, task: () => void): () => void;
}

/** The longest delay of `setTimeout`, in milliseconds (24.8 days); it takes a longer one as none at all. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (delay, task) => {
    const wait = (rest: number): NodeJS.Timeout =>
      rest > LONGEST_TIMER
        ? setTimeout(() => (timer = wait(rest - LONGEST_TIMER)), LONGEST_TIMER)
        : setTimeout(task, rest);
    let timer = wait(delay);
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
