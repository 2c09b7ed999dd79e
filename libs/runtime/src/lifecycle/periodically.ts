import { type Clock, sleep } from "../clock.ts";
import type { Logger } from "../log.ts";
import type { Loop, Term } from "./leadership.ts";

interface PeriodOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds from the start of one run to the start of the next; a run that takes longer delays the next. */
  readonly interval: number;
}

/**
 * A loop that runs `work` at once and then every interval. A run that fails is logged, and the next one starts on time.
 */
export function periodically({ clock, log, interval }: PeriodOptions, work: (term: Term) => Promise<void>): Loop {
  return async (term) => {
    const ended = () => term.signal.aborted;
    while (!ended()) {
      const started = clock.monotonic();
      try {
        await work(term);
      } catch (error) {
        if (!ended()) log.error({ error }, "the periodic work of this component failed; the next run starts on time");
      }
      await sleep(clock, Math.max(0, started + interval - clock.monotonic()), term.signal).catch(() => undefined);
    }
  };
}
