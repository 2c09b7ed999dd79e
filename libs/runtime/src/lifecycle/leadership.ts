import { toError } from "../error.ts";
import { ComponentDied } from "../errors.ts";
import type { Component, Running } from "./component.ts";

/** A time as leader. */
export interface Term {
  /** Aborts before another process may act as leader, and when this process stops. */
  readonly signal: AbortSignal;
  /**
   * Grows with each term of anyone; what writes shared state sends it, so that a former leader's writes are refused.
   */
  readonly fencingToken: bigint;
  /**
   * Whether the term still lasts, judged by the clock and not by a timer: a process that was frozen and goes on may get
   * here before its timers. Ask before an act that no fencing token guards.
   */
  readonly held: () => boolean;
}

/** A term that lasts until `signal` aborts, or `held` says otherwise first. */
export function termUntil(signal: AbortSignal, fencingToken: bigint, held: () => boolean = () => true): Term {
  return { signal, fencingToken, held: () => !signal.aborted && held() };
}

/** Work that the leader alone does. It returns when, and only when, the term's signal aborts. */
export type Loop = (term: Term) => Promise<void>;

/** Decides whether this process leads. */
export interface Leadership {
  /**
   * Calls `lead` for each term of this process. When `signal` aborts, the term ends, `lead` is awaited, the leadership
   * is given up so that another need not wait for it, and the promise resolves. If `lead` rejects, so does this.
   */
  campaign(signal: AbortSignal, lead: Loop): Promise<void>;
}

/** For a service with one replica: it leads from start to stop. */
export const soleLeadership: Leadership = {
  campaign: (signal, lead) => lead(termUntil(signal, 0n)),
};

/** Runs loops under a leadership, all of them for the length of each term. */
export class LeaderLoops implements Component {
  readonly name = "leader loops";
  leadership: Leadership = soleLeadership;
  readonly #loops = new Map<string, Loop>();
  readonly #termEnds: (() => void)[] = [];
  readonly #ending = new AbortController();
  #campaign: Promise<void> = Promise.resolve();

  add(name: string, loop: Loop): void {
    this.#loops.set(name, loop);
  }

  /** Calls `listener` at the end of each term, after every loop has ended and before the leadership is given up. */
  afterTerm(listener: () => void): void {
    this.#termEnds.push(listener);
  }

  start({ fail }: Running): void {
    if (this.#loops.size === 0) return;
    const { signal } = this.#ending;
    const reported = new Set<unknown>();
    const report = (death: unknown) => {
      if (!reported.has(death)) fail(death);
      reported.add(death);
    };
    this.#campaign = this.leadership
      .campaign(signal, (term) => this.#lead(term, report))
      .then(() => {
        if (!signal.aborted)
          throw new ComponentDied({ component: this.name }, { cause: new Error("the campaign ended") });
      })
      .catch(report);
  }

  stop(): Promise<void> {
    this.#ending.abort();
    return this.#campaign;
  }

  /**
   * One loop's death ends the others: half a leader is worse than none. It is told before they end, which they may not.
   */
  async #lead(term: Term, report: (death: unknown) => void): Promise<void> {
    const ending = new AbortController();
    const end = () => ending.abort(term.signal.reason);
    term.signal.addEventListener("abort", end, { once: true });
    if (term.signal.aborted) end();
    try {
      const runs = [...this.#loops].map(([name, loop]) =>
        runLoop(name, loop, termUntil(ending.signal, term.fencingToken, term.held)),
      );
      for (const run of runs) {
        run.catch((death: unknown) => {
          ending.abort();
          report(death);
        });
      }
      const ended = await Promise.allSettled(runs);
      for (const listener of this.#termEnds) listener();
      const died = ended.find((result) => result.status === "rejected");
      if (died) throw toError(died.reason);
    } finally {
      term.signal.removeEventListener("abort", end);
    }
  }
}

async function runLoop(name: string, loop: Loop, term: Term): Promise<void> {
  try {
    await loop(term);
  } catch (error) {
    if (!term.signal.aborted) throw new ComponentDied({ component: name }, { cause: error });
    return;
  }
  if (!term.signal.aborted) {
    throw new ComponentDied({ component: name }, { cause: new Error("it returned while its term went on") });
  }
}
