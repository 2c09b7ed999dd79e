import { type Clock, sleep } from "../clock.ts";
import type { Logger } from "../log.ts";
import type { Loop, Term } from "./leadership.ts";

export interface PeriodOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds from the start of one turn to the start of the next; a turn that takes longer delays the next. */
  readonly interval: number;
}

/** A loop that takes a turn at once and then every interval. A turn that fails is logged, and the next one is taken in its time. */
export function periodically({ clock, log, interval }: PeriodOptions, turn: (term: Term) => Promise<void>): Loop {
  return async (term) => {
    const ended = () => term.signal.aborted;
    while (!ended()) {
      const started = clock.monotonic();
      try {
        await turn(term);
      } catch (error) {
        if (!ended()) log.error({ error }, "a turn failed; the next one comes in its time");
      }
      await sleep(clock, Math.max(0, started + interval - clock.monotonic()), term.signal).catch(() => undefined);
    }
  };
}
