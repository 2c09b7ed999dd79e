import type { Rebalance, RebalanceStatus } from "@evenkeel/api";
import { isPaused, keyOf, type StatusWriter } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import type { Clock } from "@evenkeel/runtime";
import { statusInSync, withoutUnknown } from "./act/status.ts";
import type { Outside } from "./observe/observer.ts";
import type { StoredRebalance } from "./rebalance-resource.ts";
import { withTimeLimit } from "./time-limit.ts";
import { intervalOf, readLimit } from "./timing.ts";

export interface PendingChangesOptions {
  readonly outside: Pick<Outside, "targets">;
  readonly statuses: StatusWriter<StoredRebalance, RebalanceStatus>;
  readonly clock: Clock;
}

/** When the next reconcile of an object is due, and what it looked like at the last one. */
interface Waiting {
  readonly due: number;
  readonly seen: string;
}

/** Milliseconds between two looks at a pending change. They cost no call: the change is followed anyway. */
const LOOK_AGAIN = 5_000;

/**
 * Reports a change as soon as it is in effect, and not an interval later. Between two reconciles it only looks at the
 * targets: nothing is decided before the interval is over.
 */
export class PendingChanges {
  readonly #options: PendingChangesOptions;
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: PendingChangesOptions) {
    this.#options = options;
  }

  /** Milliseconds until the object is to be looked at again. `next` is the time until its next reconcile. */
  wait(object: StoredRebalance, next: number): number {
    this.#waiting.set(keyOf(object), { due: this.#options.clock.monotonic() + next, seen: seenOf(object) });
    return Math.min(next, LOOK_AGAIN);
  }

  forget(key: string): void {
    this.#waiting.delete(key);
  }

  /**
   * Milliseconds until the object is to be looked at again; undefined if it is to be reconciled now, because its
   * interval is over, it was edited, or nothing is pending.
   */
  async look(
    object: StoredRebalance,
    rebalance: Rebalance,
    { signal, term }: ObjectContext,
  ): Promise<number | undefined> {
    const { outside, statuses, clock } = this.#options;
    const key = keyOf(object);
    const waiting = this.#waiting.get(key);
    const left = (waiting?.due ?? 0) - clock.monotonic();
    if (left <= 0 || waiting?.seen !== seenOf(object)) {
      this.forget(key);
      return undefined;
    }
    const maxAge = intervalOf(rebalance.spec);
    const states = await withTimeLimit(clock, readLimit(rebalance.spec), signal, (limited) =>
      Promise.all(outside.targets(rebalance).map((target) => target.read({ signal: limited, maxAge }))),
    ).catch(() => []);
    if (states.length === 0 || states.some(({ pending }) => pending)) return Math.min(left, LOOK_AGAIN);
    const generation = object.metadata.generation ?? 0;
    const change = (present: RebalanceStatus | undefined) => {
      const status = statusInSync(present, generation, clock.now());
      return status === present || status === undefined ? present : withoutUnknown(status);
    };
    await statuses.write(object, change, term);
    return left;
  }
}

/** What a reconcile depends on of an object. */
function seenOf(object: StoredRebalance): string {
  const { uid = "", generation = 0 } = object.metadata;
  return [uid, generation, isPaused(object)].join(" ");
}
