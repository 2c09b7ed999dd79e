/** One minute of a CollectorLoadBalancer. */
export interface MovementPoint {
  /** When the minute began, in milliseconds. */
  readonly at: number;
  /** Targets that were given another collector. */
  readonly moved: number;
  /** The largest and the smallest load over the mean at the end of the minute; null while there is no load. */
  readonly maxOverMean: number | null;
  readonly minOverMean: number | null;
}

const MINUTE = 60_000;
/** Minutes that are kept of each object. */
const MOST_POINTS = 120;

/** How many targets moved and how level loads were, minute by minute since this replica leads. */
export class Movement {
  /** By the uid of the object, the oldest first. */
  readonly #points = new Map<string, readonly MovementPoint[]>();

  /** Adds what one reconcile moved and saw, and returns all that is known. */
  note(
    uid: string,
    seen: Pick<MovementPoint, "moved" | "maxOverMean" | "minOverMean">,
    now: number,
  ): readonly MovementPoint[] {
    const at = now - (now % MINUTE);
    // A clock that has jumped back has nothing to say about the minutes that it repeats.
    const earlier = (this.#points.get(uid) ?? []).filter((point) => point.at <= at);
    const last = earlier.at(-1);
    const before = last?.at === at ? earlier.slice(0, -1) : earlier;
    const moved = seen.moved + (last?.at === at ? last.moved : 0);
    const points = [...before, { ...seen, at, moved }].slice(-MOST_POINTS);
    this.#points.set(uid, points);
    return points;
  }

  forget(uid: string): void {
    this.#points.delete(uid);
  }

  endTerm(): void {
    this.#points.clear();
  }
}
