import type { Berth } from "./berth.ts";
import { TARGET, type World } from "./world.ts";

/** What can go wrong, each for a few seconds. */
const TROUBLES: readonly ((world: World) => () => void)[] = [
  ({ prometheus }) => prometheus.faults.add({ fault: { kind: "status", code: 503 } }),
  ({ prometheus }) => prometheus.faults.add({ fault: { kind: "reset" } }),
  ({ prometheus }) => prometheus.faults.add({ fault: { kind: "hang" }, times: 20 }),
  ({ route53 }) => {
    route53.limit({ perSecond: 0.5, burst: 1 });
    return () => route53.limit(undefined);
  },
  ({ route53 }) => route53.faults.add({ fault: { kind: "reset" }, times: 5 }),
  ({ faults }) => faults.add({ fault: { kind: "status", code: 503 }, share: 0.2 }),
  ({ faults }) => faults.add({ fault: { kind: "reset" }, share: 0.1 }),
  ({ faults }) => faults.add({ fault: { kind: "status", code: 410 }, resource: "rebalances", verb: "watch", times: 2 }),
];

/** Seconds from one trouble to the next, and how long each lasts. */
const PEACE = 10;
const TROUBLE = 3;

/** Parts of a policy that are edited; absent fields return to their defaults. */
const EDITS = [{ tolerance: 0.1 }, { maxStepUp: 3 }, { targetValue: 1200 }, { maximum: 12 }];
const UNEDITED = { tolerance: null, maxStepUp: null, targetValue: TARGET, maximum: null };

/** What the metric is when all is calm. */
const CALM = 3 * TARGET;

/**
 * Everything that happens around the service, a step a second. What the API server refuses while it is in trouble is
 * left out.
 */
export class Churn {
  readonly #world: World;
  readonly #berths: readonly Berth[];
  readonly #random: () => number;
  /** Steps that did not come to pass. */
  refused = 0;
  #steps = 0;
  #endTrouble: (() => void) | undefined;

  constructor(world: World, berths: readonly Berth[], random: () => number) {
    this.#world = world;
    this.#berths = berths;
    this.#random = random;
  }

  async step(): Promise<void> {
    this.#steps += 1;
    for (const berth of this.#berths) {
      if (this.#random() < 0.5)
        berth.metric = this.#random() < 0.05 ? null : Math.round(TARGET * (1 + this.#random() * 4));
    }
    if (this.#steps % PEACE === 0) this.#endTrouble = this.#pick(TROUBLES)(this.#world);
    if (this.#steps % PEACE === TROUBLE) this.#endTrouble?.();

    await this.#attempt(() => this.#pick(this.#berths).edit({ ...UNEDITED, ...this.#pick(EDITS) }));
    const berth = this.#pick(this.#berths);
    await this.#attempt(() => berth.moveOut());
    await this.#attempt(() => berth.moveIn());
  }

  /** Ends all trouble, and gives every record one Rebalance with one metric again. */
  async calm(): Promise<void> {
    this.#endTrouble?.();
    for (const berth of this.#berths) {
      berth.metric = CALM;
      await berth.moveOut().catch(() => undefined);
      await berth.moveIn();
    }
  }

  async #attempt(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch {
      this.refused += 1;
    }
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.#random() * list.length)];
    if (picked === undefined) throw new Error("there is nothing to pick from");
    return picked;
  }
}
