import type { ScrapedTarget } from "@evenkeel/telemetry";

/** A time without pause in which a collector scraped an instance, in milliseconds. */
interface Spell {
  readonly collector: string;
  readonly first: number;
  readonly last: number;
}

/** A time in which this machine was too busy to scrape, in milliseconds. */
export interface Stall {
  readonly from: number;
  readonly to: number;
}

/** Milliseconds that a scrape is late when the machine was too busy for it. */
const LATE = 100;

/** When a collector was late that scrapes the same targets all the time. */
export function stallsOf(scraped: readonly ScrapedTarget[], interval: number): readonly Stall[] {
  return scraped.flatMap(({ scrapes }) =>
    scrapes.flatMap(({ at }, index) => {
      const due = (scrapes[index - 1]?.at ?? at) + interval;
      return at - due > LATE ? [{ from: due, to: at }] : [];
    }),
  );
}

export interface Gap {
  readonly instance: string;
  readonly from: number;
  readonly milliseconds: number;
}

export interface Overlap {
  readonly instance: string;
  readonly collectors: readonly [string, string];
  readonly milliseconds: number;
}

/** Who scraped what and when, over all collectors. A scrape that failed is none. */
export class ScrapeHistory {
  /** Of each instance, the times at which each collector scraped it, in order. */
  readonly #times = new Map<string, Map<string, readonly number[]>>();

  readonly #stalls: readonly Stall[];

  constructor(scraped: ReadonlyMap<string, readonly ScrapedTarget[]>, stalls: readonly Stall[] = []) {
    this.#stalls = stalls.toSorted((one, other) => one.from - other.from);
    for (const [collector, targets] of scraped)
      for (const { instance, scrapes } of targets) {
        const byCollector = this.#times.get(instance) ?? new Map<string, readonly number[]>();
        this.#times.set(instance, byCollector);
        byCollector.set(
          collector,
          scrapes.flatMap(({ at, up }) => (up ? [at] : [])),
        );
      }
  }

  get instances(): readonly string[] {
    return [...this.#times.keys()].sort();
  }

  /**
   * Pauses longer than `limit`, less stalls, in which nobody scraped an instance, from its first scrape until `end`.
   */
  gaps(limit: number, end: number): readonly Gap[] {
    return this.instances.flatMap((instance) => {
      const times = [...this.#of(instance).values(), [end]].flat().sort((one, other) => one - other);
      return times.slice(1).flatMap((to, index) => {
        const from = times[index] ?? to;
        const milliseconds = to - from - this.#stalled(from, to);
        return milliseconds > limit ? [{ instance, from, milliseconds }] : [];
      });
    });
  }

  /** Times in which two collectors scraped an instance. One that pauses for longer than `pause` has stopped. */
  overlaps(pause: number): readonly Overlap[] {
    return this.instances.flatMap((instance) => {
      const spells = [...this.#of(instance)].flatMap(([collector, times]) => spellsOf(collector, times, pause));
      return spells.flatMap((one, index) =>
        spells.slice(index + 1).flatMap((other) => {
          const milliseconds = Math.min(one.last, other.last) - Math.max(one.first, other.first);
          const isShared = one.collector !== other.collector && milliseconds >= 0;
          return isShared ? [{ instance, collectors: [one.collector, other.collector] as const, milliseconds }] : [];
        }),
      );
    });
  }

  /** Who has scraped each instance since `start`. */
  ownersSince(start: number): ReadonlyMap<string, readonly string[]> {
    return new Map(
      this.instances.map((instance) => [
        instance,
        [...this.#of(instance)].flatMap(([collector, times]) => ((times.at(-1) ?? 0) >= start ? [collector] : [])),
      ]),
    );
  }

  /** When an instance was first scraped after `start`; infinite if it was not. */
  firstSince(instance: string, start: number): number {
    return Math.min(...[...this.#of(instance).values()].flat().filter((at) => at > start));
  }

  /** How often the instance was scraped since `start` that was scraped least. */
  fewestSince(start: number): number {
    const counts = this.instances.map(
      (instance) => [...this.#of(instance).values()].flat().filter((at) => at >= start).length,
    );
    return Math.min(...counts);
  }

  /** For how long the machine stalled in a time. */
  #stalled(from: number, to: number): number {
    let sum = 0;
    let seen = from;
    for (const stall of this.#stalls) {
      const end = Math.min(stall.to, to);
      sum += Math.max(0, end - Math.max(stall.from, seen));
      seen = Math.max(seen, end);
    }
    return sum;
  }

  #of(instance: string): ReadonlyMap<string, readonly number[]> {
    return this.#times.get(instance) ?? new Map<string, readonly number[]>();
  }
}

function spellsOf(collector: string, times: readonly number[], pause: number): readonly Spell[] {
  const spells: Spell[] = [];
  for (const at of times) {
    const last = spells.at(-1);
    if (last !== undefined && at - last.last <= pause) spells[spells.length - 1] = { ...last, last: at };
    else spells.push({ collector, first: at, last: at });
  }
  return spells;
}
