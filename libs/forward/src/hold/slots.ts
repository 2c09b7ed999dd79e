interface Lane {
  cap: number;
  taken: number;
  offered: boolean;
}

/** The maximum and the current number of concurrent requests for each upstream of a key. */
export class Slots<Upstream extends string | object> {
  readonly #lanes = new Map<Upstream, Lane>();

  /** Number of upstreams that are offered or still have requests. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Adds an upstream, or changes its cap. If the cap is lower, requests beyond it finish first. */
  offer(upstream: Upstream, cap: number): void {
    if (!(cap >= 1)) throw new RangeError(`An upstream takes at least one request at once, not ${cap}`);
    this.#lanes.set(upstream, Object.assign(this.#lanes.get(upstream) ?? { taken: 0 }, { cap, offered: true }));
  }

  /** Sends no further requests to it. Its current requests still count if it is offered again. */
  withdraw(upstream: Upstream): void {
    const lane = this.#lanes.get(upstream);
    if (!lane) return;
    lane.offered = false;
    if (lane.taken === 0) this.#lanes.delete(upstream);
  }

  /**
   * Takes a slot of the upstream with the lowest use of its cap; if several are equal, of the one that was offered
   * first. Undefined if none is free.
   */
  take(): Upstream | undefined {
    let best: { upstream: Upstream; lane: Lane } | undefined;
    for (const [upstream, lane] of this.#lanes) {
      if (!lane.offered || lane.taken >= lane.cap) continue;
      if (!best || lane.taken / lane.cap < best.lane.taken / best.lane.cap) best = { upstream, lane };
    }
    if (!best) return undefined;
    best.lane.taken += 1;
    return best.upstream;
  }

  /** Frees a slot that was taken. */
  free(upstream: Upstream): void {
    const lane = this.#lanes.get(upstream);
    if (!lane || lane.taken === 0) throw new RangeError("A slot is freed only once");
    lane.taken -= 1;
    if (lane.taken === 0 && !lane.offered) this.#lanes.delete(upstream);
  }
}
