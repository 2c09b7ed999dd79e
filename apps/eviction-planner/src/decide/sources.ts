import type { Spread } from "@evenkeel/scoring";
import type { Course } from "./course.ts";
import type { Sources } from "./search.ts";
import type { PlanSnapshot } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

/** Capacities beyond these are rare, and their nodes are not looked at for the best case of a pod. */
const MOST_CAPACITIES = 8;

export interface SourcesInput {
  readonly spec: PlanSnapshot["policy"]["spec"];
  readonly utilisation: Utilisation;
  /** By slot: hot before the first move. */
  readonly isHot: readonly boolean[];
  /** Pods that may be moved, by slot. */
  readonly podsOf: (slot: number) => readonly number[];
  readonly nodeOf: (pod: number) => number;
}

/**
 * Which nodes give pods, and when it is enough. Hot nodes give until they are no longer hot. With `targetSigma`, every node
 * above the mean gives until σ is at the target.
 */
export class PolicySources implements Sources {
  readonly #input: SourcesInput;
  readonly #course: Course;
  readonly #hot: readonly number[];
  /** Slots by capacity, the commonest first. */
  readonly #capacities: readonly (readonly number[])[];
  #coldest: { readonly moves: number; readonly slots: readonly number[] } | undefined;

  constructor(input: SourcesInput, course: Course) {
    this.#input = input;
    this.#course = course;
    this.#hot = input.isHot.flatMap((isHot, slot) => (isHot ? [slot] : []));
    const slots = [...input.utilisation.nodeAt.keys()];
    const byCapacity = Map.groupBy(slots, (slot) => {
      const share = input.utilisation.shares[slot];
      return `${share?.cpu} ${share?.memory}`;
    });
    this.#capacities = [...byCapacity.values()].sort((a, b) => b.length - a.length).slice(0, MOST_CAPACITIES);
  }

  now(): readonly number[] {
    const { spec, utilisation } = this.#input;
    const { spread } = this.#course;
    if (spec.targetSigma === undefined) return fullestFirst(this.#stillHot(), spread);
    const { mean } = spread;
    return fullestFirst(
      [...utilisation.nodeAt.keys()].filter((slot) => spread.level(slot) > mean),
      spread,
    );
  }

  podsOf(slot: number): readonly number[] {
    return this.#input.podsOf(slot);
  }

  isTargetReached(): boolean {
    const { targetSigma, targetVariance } = this.#input.spec;
    const { spread } = this.#course;
    if (targetSigma !== undefined) return spread.sigma <= targetSigma;
    return this.#stillHot().length === 0 && spread.variance <= targetVariance;
  }

  bestCase(pod: number): number {
    const { utilisation, nodeOf } = this.#input;
    const from = nodeOf(pod);
    const [slot, size] = [utilisation.slotOf[from] as number, utilisation.sizeOn(pod, from)];
    const changes = this.#coldestSlots().map((to) => {
      const added = utilisation.sizeOn(pod, utilisation.nodeAt[to] as number);
      return this.#course.spread.change(slot, size, to, added);
    });
    return -Math.min(...changes);
  }

  #stillHot(): readonly number[] {
    const { hotThreshold, hysteresis } = this.#input.spec;
    return this.#hot.filter((slot) => this.#course.spread.level(slot) >= hotThreshold - hysteresis);
  }

  /** The slot with the lowest level of each capacity. */
  #coldestSlots(): readonly number[] {
    const { spread, moves } = this.#course;
    if (this.#coldest?.moves !== moves.length) {
      const slots = this.#capacities.map((slots) =>
        slots.reduce((coldest, slot) => (spread.level(slot) < spread.level(coldest) ? slot : coldest)),
      );
      this.#coldest = { moves: moves.length, slots };
    }
    return this.#coldest.slots;
  }
}

function fullestFirst(slots: readonly number[], spread: Spread): readonly number[] {
  return slots.toSorted((a, b) => spread.level(b) - spread.level(a) || a - b);
}
