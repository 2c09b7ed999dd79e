import { createHash, randomUUID } from "node:crypto";
import { type Clock, type Component, explain, type Logger } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import type { Poll } from "../decide/assignments.ts";
import type { Fleet } from "../fleet.ts";

export interface PollReportsOptions {
  readonly fleets: { values(): readonly Fleet[] };
  readonly state: Pick<State, "counters" | "available">;
  /** Name of this replica's host, which others may share. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds between two reports. */
const PERIOD = 1000;
/** Milliseconds after which a report counts no longer. */
const TTL = 60_000;
/** Milliseconds between two reports of who asks at all, while no hand-over waits. */
const CALM_PERIOD = 15_000;
/** Stands for the job where any job is meant. */
const ANY_JOB = "any";

/**
 * Tells the leader what collectors were told by this replica, for jobs whose targets change their collector. A
 * collector may ask any replica, and a hand-over waits until it was told.
 */
export class PollReports implements Component {
  readonly name = "poll reports";
  readonly #options: PollReportsOptions;
  /** Differs from that of every other process, also on the same host: a replica leaves out its own reports. */
  readonly #replica: string;
  /** By the uid of a fleet. */
  readonly #reportedAt = new Map<string, number>();
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(options: PollReportsOptions) {
    this.#options = options;
    this.#replica = `${options.instance}:${randomUUID()}`;
  }

  start(): void {
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** What collectors were told by any replica, for jobs with a hand-over. */
  async read(fleet: Fleet): Promise<readonly Poll[]> {
    const jobs = fleet.handingOver();
    if (jobs.length === 0) return [];
    const { state, clock } = this.#options;
    const own = fleet.polls.list();
    if (!state.available) return own;
    const byHash = new Map(jobs.map((job) => [hashOf(job), job]));
    const replicas = await state.counters.read(fleet.uid);
    const others = [...replicas]
      .filter(([replica]) => replica !== this.#replica)
      .flatMap(([, counts]) => Object.entries(counts));
    const told = others.flatMap(([name, seen]): readonly Poll[] => {
      const [collector = "", hash = ""] = name.split(":");
      const job = byHash.get(hash);
      return job === undefined ? [] : [{ collector, job, seen, at: clock.now() }];
    });
    return [...own, ...told];
  }

  /**
   * When each collector last asked any replica for targets, in milliseconds, as far as it did. Other replicas are asked
   * only if one of `members` has not asked this one in the last minute.
   */
  async lastPolls(fleet: Fleet, members: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { state, clock } = this.#options;
    const last = new Map(fleet.polls.last());
    const now = clock.now();
    if (!state.available || members.every((name) => now - (last.get(name) ?? -Infinity) < TTL)) return last;
    for (const [replica, counts] of await state.counters.read(fleet.uid))
      for (const [name, at] of replica === this.#replica ? [] : Object.entries(counts)) {
        const [collector = "", job] = name.split(":");
        if (job === ANY_JOB) last.set(collector, Math.max(at, last.get(collector) ?? 0));
      }
    return last;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.clock.schedule(PERIOD, () => {
      void this.#report().then(() => this.#schedule());
    });
  }

  async #report(): Promise<void> {
    const { fleets, state, clock, log } = this.#options;
    if (!state.available) return;
    const now = clock.now();
    for (const fleet of fleets.values()) {
      const jobs = new Set(fleet.handingOver());
      if (jobs.size === 0 && Math.abs(now - (this.#reportedAt.get(fleet.uid) ?? -Infinity)) < CALM_PERIOD) continue;
      this.#reportedAt.set(fleet.uid, now);
      const polls = fleet.polls.list().filter(({ job }) => jobs.has(job));
      const counts = Object.fromEntries([
        ...Array.from(fleet.polls.last(), ([collector, at]) => [`${collector}:${ANY_JOB}`, at] as const),
        ...polls.map(({ collector, job, seen }) => [`${collector}:${hashOf(job)}`, seen] as const),
      ]);
      try {
        await state.counters.report(fleet.uid, this.#replica, counts, TTL);
      } catch (error) {
        log.debug({ fault: explain(error) }, "what collectors were told could not be shared; it is retried");
      }
    }
  }
}

/** Names in the state are short and have few kinds of characters; jobs have any. */
function hashOf(job: string): string {
  return createHash("sha256").update(job).digest("hex").slice(0, 16);
}
