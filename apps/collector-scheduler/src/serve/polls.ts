import type { Poll } from "../decide/assignments.ts";

/** What collectors were told by this replica, as far as hand-overs wait for it. */
export class Polls {
  /** By collector and job. */
  readonly #polls = new Map<string, Map<string, Poll>>();
  /** When each collector last asked for targets of any job. */
  readonly #last = new Map<string, number>();

  /**
   * Notes that a collector was told its targets of a job by assignments of the time `seen`. The last time counts: only
   * a poll after the collector became ready ends a hand-over, and the assignments may be the same before and after
   * that.
   */
  note(collector: string, job: string, seen: number, at: number): void {
    this.asked(collector, at);
    let own = this.#polls.get(collector);
    if (own === undefined) this.#polls.set(collector, (own = new Map<string, Poll>()));
    const known = own.get(job);
    if (known === undefined || known.seen <= seen) own.set(job, { collector, job, seen, at });
  }

  /** Notes that a collector asked for targets, whatever the answer is. */
  asked(collector: string, at: number): void {
    this.#last.set(collector, at);
  }

  list(): readonly Poll[] {
    return [...this.#polls.values()].flatMap((own) => [...own.values()]);
  }

  /** When each collector last asked this replica for targets, in milliseconds. */
  last(): ReadonlyMap<string, number> {
    return this.#last;
  }

  /** Drops collectors that are no longer members. */
  keepOnly(collectors: ReadonlySet<string>): void {
    for (const collector of this.#polls.keys()) if (!collectors.has(collector)) this.#polls.delete(collector);
    for (const collector of this.#last.keys()) if (!collectors.has(collector)) this.#last.delete(collector);
  }
}
