import type { Poll } from "../decide/assignments.ts";

/** What collectors were told by this replica, as far as hand-overs wait for it. */
export class Polls {
  readonly #polls = new Map<string, Poll>();

  /** Notes that a collector was told its targets of a job by assignments of the time `seen`. */
  note(collector: string, job: string, seen: number, at: number): void {
    const key = `${collector} ${job}`;
    const known = this.#polls.get(key);
    if (known === undefined || known.seen < seen) this.#polls.set(key, { collector, job, seen, at });
  }

  list(): readonly Poll[] {
    return [...this.#polls.values()];
  }

  /** Drops collectors that are no longer members. */
  keepOnly(collectors: ReadonlySet<string>): void {
    for (const [key, { collector }] of this.#polls) if (!collectors.has(collector)) this.#polls.delete(key);
  }
}
