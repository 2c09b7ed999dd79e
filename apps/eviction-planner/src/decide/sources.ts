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
  readonly podsOf: (slot: number) => Int32Array;
  readonly nodeOf: (pod: number) => number;
}

/**
 * Which nodes give pods, and when it is enough. Hot nodes give until they are no longer hot. With `targetSigma`, every node
 * above the mean gives until σ is at the target.
 */
export class PolicySources implements Sources {
  readonly #input: SourcesInput;
  readonly #course: Course;
  /** Slots that can be sources at some time. */
  readonly #candidates: readonly number[];
  /** Slots by capacity, the commonest first. */
  readonly #capacities: readonly (readonly number[])[];
  /** By slot: the best case of its best pod, and the level at which that was found. It is an estimate once others moved. */
  readonly #potential: Float64Array;
  readonly #levelThen: Float64Array;
  #coldest: { readonly moves: number; readonly slots: readonly number[] } | undefined;

  constructor(input: SourcesInput, course: Course) {
    this.#input = input;
    this.#course = course;
    const slots = [...input.utilisation.nodeAt.keys()];
    this.#candidates = input.spec.targetSigma === undefined ? slots.filter((slot) => input.isHot[slot]) : slots;
    this.#potential = new Float64Array(slots.length);
    this.#levelThen = new Float64Array(slots.length).fill(NaN);
    const byCapacity = Map.groupBy(slots, (slot) => {
      const share = input.utilisation.shares[slot];
      return `${share?.cpu} ${share?.memory}`;
    });
    this.#capacities = [...byCapacity.values()].sort((a, b) => b.length - a.length).slice(0, MOST_CAPACITIES);
  }

  all(): readonly number[] {
    return this.#candidates.filter((slot) => this.#isSource(slot));
  }

  promising(count: number, isWanted: (slot: number) => boolean, isOpen: (pod: number) => boolean): readonly number[] {
    const { spread } = this.#course;
    const potential = this.#potential;
    const found: number[] = [];
    for (const slot of this.#candidates) {
      if (!this.#isSource(slot) || !isWanted(slot)) continue;
      if (this.#levelThen[slot] !== spread.level(slot)) this.#rate(slot, isOpen);
      let index = found.length;
      while (index > 0 && (potential[found[index - 1] as number] as number) < (potential[slot] as number)) index -= 1;
      if (index < count) found.splice(index, 0, slot);
      if (found.length > count) found.pop();
    }
    for (const slot of found) this.#rate(slot, isOpen);
    return found;
  }

  podsOf(slot: number): Int32Array {
    return this.#input.podsOf(slot);
  }

  isTargetReached(): boolean {
    const { targetSigma, targetVariance } = this.#input.spec;
    const { spread } = this.#course;
    if (targetSigma !== undefined) return spread.sigma <= targetSigma;
    return spread.variance <= targetVariance && !this.#candidates.some((slot) => this.#isSource(slot));
  }

  bestCase(pod: number): number {
    const { utilisation, nodeOf } = this.#input;
    const from = nodeOf(pod);
    const [slot, size] = [utilisation.slotOf[from] as number, utilisation.sizeOn(pod, from)];
    let best = 0;
    for (const to of this.#coldestSlots()) {
      const added = utilisation.sizeOn(pod, utilisation.nodeAt[to] as number);
      best = Math.max(best, -this.#course.spread.change(slot, size, to, added));
    }
    return best;
  }

  #isSource(slot: number): boolean {
    const { hotThreshold, hysteresis, targetSigma } = this.#input.spec;
    const { spread } = this.#course;
    return spread.level(slot) >= (targetSigma === undefined ? hotThreshold - hysteresis : spread.mean);
  }

  #rate(slot: number, isOpen: (pod: number) => boolean): void {
    let best = 0;
    for (const pod of this.podsOf(slot)) if (isOpen(pod)) best = Math.max(best, this.bestCase(pod));
    this.#potential[slot] = best;
    this.#levelThen[slot] = this.#course.spread.level(slot);
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
