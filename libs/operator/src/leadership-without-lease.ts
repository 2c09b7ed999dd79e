import { type Clock, explain, fullJitter, type Leadership, type Logger, sleep, termUntil } from "@evenkeel/runtime";

export interface LeadershipWithoutLeaseOptions {
  /** The API server's present resource version, as text. */
  readonly version: (signal: AbortSignal) => Promise<string>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

const BACKOFF = { base: 1_000, cap: 30_000 };

/**
 * For the only replica of a service: it leads from start to stop. Its fencing token is the API server's present
 * resource version, as that of a Lease is, so that shared state accepts it after earlier leaders, and later ones after
 * it.
 */
export function leadershipWithoutLease(options: LeadershipWithoutLeaseOptions): Leadership {
  return {
    campaign: async (signal, lead) => {
      const token = await presentToken(options, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (token !== undefined) await lead(termUntil(signal, token));
    },
  };
}

async function presentToken(
  { version, clock, random, log }: LeadershipWithoutLeaseOptions,
  signal: AbortSignal,
): Promise<bigint> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return BigInt(await version(signal));
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ fault: explain(error) }, "the API server's version cannot be read; nothing is changed until then");
      await sleep(clock, fullJitter(BACKOFF, attempt, random), signal);
    }
  }
}
