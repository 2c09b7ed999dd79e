import type { Reason } from "../decide/reason.ts";
import type { State } from "../decide/state.ts";

/** From when on a service was in a state, and why. Times are milliseconds since 1970. */
export interface StateChange {
  readonly at: number;
  readonly state: State;
  /** Empty for the state that this process found when it began to lead. */
  readonly reason: Reason | "";
  readonly message: string;
}

/** One wake and how long its parts took, in milliseconds; null is a part that has not ended, or was not seen. */
export interface WakeRecord {
  /** When the first request was held, or somebody asked for the wake; milliseconds since 1970. */
  readonly startedAt: number;
  /** The call that scales the workload. */
  readonly scaleMs: number | null;
  /** From there to a ready pod. */
  readonly startMs: number | null;
  /** From there to the first answer. */
  readonly connectMs: number | null;
  /** Requests that waited for it. */
  readonly held: number;
}

export interface QueuePoint {
  readonly at: number;
  readonly pending: number | null;
  readonly inFlight: number | null;
  readonly replicas: number | null;
}

export interface HistoryLimits {
  readonly changes: number;
  readonly wakes: number;
  readonly points: number;
}

const LIMITS: HistoryLimits = { changes: 200, wakes: 20, points: 360 };

/** How one service came to where it is, the oldest first. However long it runs, it keeps no more than its limits. */
export class ServiceHistory {
  readonly #limits: HistoryLimits;
  readonly #changes: StateChange[] = [];
  readonly #wakes: WakeRecord[] = [];
  readonly #points: QueuePoint[] = [];

  constructor(limits: HistoryLimits = LIMITS) {
    this.#limits = limits;
  }

  get changes(): readonly StateChange[] {
    return this.#changes;
  }

  get wakes(): readonly WakeRecord[] {
    return this.#wakes;
  }

  get points(): readonly QueuePoint[] {
    return this.#points;
  }

  /** Takes note of a state; one that the service is in already is no news. */
  moved(change: StateChange): void {
    if (this.#changes.at(-1)?.state === change.state) return;
    keep(this.#changes, change, this.#limits.changes);
  }

  /** Takes note of a wake, or of more about one that is known by when it started. */
  woken(wake: WakeRecord): void {
    const known = this.#wakes.findIndex(({ startedAt }) => startedAt === wake.startedAt);
    if (known >= 0) this.#wakes[known] = wake;
    else keep(this.#wakes, wake, this.#limits.wakes);
  }

  /** While nothing changes, the last point moves on: an idle night costs two points. Returns whether it is news. */
  counted(point: QueuePoint): boolean {
    const [before, last] = [this.#points.at(-2), this.#points.at(-1)];
    if (before && last && isSame(before, last) && isSame(last, point)) {
      this.#points[this.#points.length - 1] = point;
      return false;
    }
    keep(this.#points, point, this.#limits.points);
    return !last || !isSame(last, point);
  }
}

function isSame(one: QueuePoint, other: QueuePoint): boolean {
  return one.pending === other.pending && one.inFlight === other.inFlight && one.replicas === other.replicas;
}

function keep<T>(list: T[], item: T, most: number): void {
  list.push(item);
  if (list.length > most) list.splice(0, list.length - most);
}
