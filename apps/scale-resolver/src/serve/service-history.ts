import type { Reason } from "../decide/reason.ts";
import type { State } from "../decide/state.ts";

/** When a service entered a state, and why. Times are milliseconds since 1970. */
export interface StateChange {
  readonly at: number;
  readonly state: State;
  /** Empty for the state that this process found at the start of its term. */
  readonly reason: Reason | "";
  readonly message: string;
}

/** One wake with the durations of its phases in milliseconds; null if a phase has not ended or was not seen. */
export interface WakeRecord {
  /** When the first request was held, or a caller asked for the wake; milliseconds since 1970. */
  readonly startedAt: number;
  /** The scale call. */
  readonly scaleMs: number | null;
  /** From the scale call to a ready pod. */
  readonly startMs: number | null;
  /** From the ready pod to the first response. */
  readonly connectMs: number | null;
  /** Number of requests that waited. */
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

/** The history of one service, the oldest first. Its size is limited. */
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

  /** Records a state, unless the service is already in it. */
  moved(change: StateChange): void {
    if (this.#changes.at(-1)?.state === change.state) return;
    keep(this.#changes, change, this.#limits.changes);
  }

  /** Records a wake, or updates the one with the same start. */
  woken(wake: WakeRecord): void {
    const known = this.#wakes.findIndex(({ startedAt }) => startedAt === wake.startedAt);
    if (known >= 0) this.#wakes[known] = wake;
    else keep(this.#wakes, wake, this.#limits.wakes);
  }

  /**
   * Records a point. Without a change the last point moves, so an idle night needs two points. Returns whether it
   * changed.
   */
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
