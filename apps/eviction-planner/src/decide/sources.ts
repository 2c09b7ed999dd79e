import type { Course } from "./course.ts";
import type { Sources } from "./search.ts";
import type { PlanSnapshot } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

/** Capacities beyond these are rare, and their nodes are not looked at for the best case of a pod. */
const MOST_CAPACITIES = 8;

/** Moves after which a source is rated again. */
const RATED_FOR = 8;

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
  /** By slot: the best case of its best pod, and when that was found. It is an estimate once pods of others moved. */
  readonly #potential: Float64Array;
  readonly #levelThen: Float64Array;
  readonly #movesThen: Int32Array;
  #coldest: { readonly moves: number; readonly slots: readonly number[] } | undefined;

  constructor(input: SourcesInput, course: Course) {
    this.#input = input;
    this.#course = course;
    const slots = [...input.utilisation.nodeAt.keys()];
    this.#candidates = input.spec.targetSigma === undefined ? slots.filter((slot) => input.isHot[slot]) : slots;
    this.#potential = new Float64Array(slots.length);
    this.#levelThen = new Float64Array(slots.length).fill(NaN);
    this.#movesThen = new Int32Array(slots.length);
    const byCapacity = Map.groupBy(slots, (slot) => {
      const share = input.utilisation.shares[slot];
      return `${share?.cpu} ${share?.memory}`;
    });
    this.#capacities = [...byCapacity.values()].sort((a, b) => b.length - a.length).slice(0, MOST_CAPACITIES);
  }

  all(): readonly number[] {
    const least = this.#leastLevel();
    return this.#candidates.filter((slot) => this.#course.spread.level(slot) >= least);
  }

  promising(count: number, isWanted: (slot: number) => boolean, isOpen: (pod: number) => boolean): readonly number[] {
    const { spread, moves } = this.#course;
    const potential = this.#potential;
    const found: number[] = [];
    const least = this.#leastLevel();
    for (const slot of this.#candidates) {
      const level = spread.level(slot);
      if (level < least || !isWanted(slot)) continue;
      if (this.#levelThen[slot] !== level) this.#rate(slot, isOpen);
      let index = found.length;
      while (index > 0 && (potential[found[index - 1] as number] as number) < (potential[slot] as number)) index -= 1;
      if (index < count) found.splice(index, 0, slot);
      if (found.length > count) found.pop();
    }
    for (const slot of found) {
      if (moves.length - (this.#movesThen[slot] as number) >= RATED_FOR) this.#rate(slot, isOpen);
    }
    return found;
  }

  podsOf(slot: number): Int32Array {
    return this.#input.podsOf(slot);
  }

  isTargetReached(): boolean {
    const { targetSigma, targetVariance } = this.#input.spec;
    const { spread } = this.#course;
    if (targetSigma !== undefined) return spread.sigma <= targetSigma;
    return spread.variance <= targetVariance && this.all().length === 0;
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

  /** The level from which a node is a source. */
  #leastLevel(): number {
    const { hotThreshold, hysteresis, targetSigma } = this.#input.spec;
    return targetSigma === undefined ? hotThreshold - hysteresis : this.#course.spread.mean;
  }

  #rate(slot: number, isOpen: (pod: number) => boolean): void {
    let best = 0;
    for (const pod of this.podsOf(slot)) if (isOpen(pod)) best = Math.max(best, this.bestCase(pod));
    this.#potential[slot] = best;
    this.#levelThen[slot] = this.#course.spread.level(slot);
    this.#movesThen[slot] = this.#course.moves.length;
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
