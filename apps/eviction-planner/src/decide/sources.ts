import type { Course } from "./course.ts";
import type { Sources } from "./search.ts";
import type { PlanSnapshot } from "./snapshot.ts";
import type { Load, Utilisation } from "./utilisation.ts";

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
 * Which nodes give pods, and when it is enough. Hot nodes give until they are no longer hot. With `targetSigma`, every
 * node above the mean gives until σ is at the target.
 */
export class PolicySources implements Sources {
  readonly #input: SourcesInput;
  readonly #course: Course;
  /** Slots that can be sources at some time. */
  readonly #candidates: Int32Array;
  /** Slots by capacity, the commonest first. */
  readonly #capacities: readonly Int32Array[];
  /** By slot: the best case of its best pod, and when that was found. It is an estimate once pods of others moved. */
  readonly #potential: Float64Array;
  readonly #levelThen: Float64Array;
  readonly #movesThen: Int32Array;
  #coldest: { readonly moves: number; readonly slots: readonly number[] } | undefined;

  constructor(input: SourcesInput, course: Course) {
    this.#input = input;
    this.#course = course;
    const slots = [...input.utilisation.nodeAt.keys()];
    const isCandidate = (slot: number) => input.spec.targetSigma !== undefined || input.isHot[slot] === true;
    this.#candidates = Int32Array.from(slots.filter(isCandidate));
    this.#potential = new Float64Array(slots.length);
    this.#levelThen = new Float64Array(slots.length).fill(NaN);
    this.#movesThen = new Int32Array(slots.length);
    const byCapacity = Map.groupBy(slots, (slot) => {
      const share = input.utilisation.shares[slot];
      return `${share?.cpu} ${share?.memory}`;
    });
    const commonest = [...byCapacity.values()].sort((a, b) => b.length - a.length).slice(0, MOST_CAPACITIES);
    this.#capacities = commonest.map((members) => Int32Array.from(members));
  }

  all(): readonly number[] {
    const least = this.#leastLevel();
    return Array.from(this.#candidates.filter((slot) => this.#course.spread.level(slot) >= least));
  }

  promising(count: number, isWanted: (slot: number) => boolean, isOpen: (pod: number) => boolean): readonly number[] {
    const { spread, moves } = this.#course;
    const [candidates, potential, levels, levelThen] = [
      this.#candidates,
      this.#potential,
      spread.levels,
      this.#levelThen,
    ];
    const found: number[] = [];
    const least = this.#leastLevel();
    for (let index = 0; index < candidates.length; index += 1) {
      const slot = candidates[index] as number;
      const level = levels[slot] as number;
      if (level < least) continue;
      const isRated = levelThen[slot] === level;
      const last = found.length < count ? undefined : found[count - 1];
      if (isRated && last !== undefined && (potential[last] as number) >= (potential[slot] as number)) continue;
      if (!isWanted(slot)) continue;
      if (!isRated) this.#rate(slot, isOpen);
      let place = found.length;
      while (place > 0 && (potential[found[place - 1] as number] as number) < (potential[slot] as number)) place -= 1;
      if (place < count) found.splice(place, 0, slot);
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
    const slot = this.#input.utilisation.slotOf[this.#input.nodeOf(pod)] as number;
    return this.#bestCaseFrom(slot, pod, this.#coldestSlots());
  }

  #bestCaseFrom(slot: number, pod: number, coldest: readonly number[]): number {
    const { podLoads, shares } = this.#input.utilisation;
    const { spread } = this.#course;
    const cpu = podLoads.cpu[pod] as number;
    const memory = podLoads.memory[pod] as number;
    const own = shares[slot] as Load;
    const size = cpu * own.cpu + memory * own.memory;
    let best = 0;
    for (let index = 0; index < coldest.length; index += 1) {
      const to = coldest[index] as number;
      const other = shares[to] as Load;
      const gain = -spread.change(slot, size, to, cpu * other.cpu + memory * other.memory);
      if (gain > best) best = gain;
    }
    return best;
  }

  /** The level from which a node is a source. */
  #leastLevel(): number {
    const { hotThreshold, hysteresis, targetSigma } = this.#input.spec;
    return targetSigma === undefined ? hotThreshold - hysteresis : this.#course.spread.mean;
  }

  #rate(slot: number, isOpen: (pod: number) => boolean): void {
    const pods = this.podsOf(slot);
    const coldest = this.#coldestSlots();
    let best = 0;
    for (let index = 0; index < pods.length; index += 1) {
      const pod = pods[index] as number;
      if (!isOpen(pod)) continue;
      const gain = this.#bestCaseFrom(slot, pod, coldest);
      if (gain > best) best = gain;
    }
    this.#potential[slot] = best;
    this.#levelThen[slot] = this.#course.spread.level(slot);
    this.#movesThen[slot] = this.#course.moves.length;
  }

  /** The slot with the lowest level of each capacity. */
  #coldestSlots(): readonly number[] {
    const { spread, moves } = this.#course;
    if (this.#coldest?.moves !== moves.length) {
      this.#coldest = { moves: moves.length, slots: this.#capacities.map((slots) => lowest(slots, spread.levels)) };
    }
    return this.#coldest.slots;
  }
}

/** The slot with the lowest level; of several the first. */
function lowest(slots: Int32Array, levels: ArrayLike<number>): number {
  let lowest = slots[0] as number;
  for (let index = 1; index < slots.length; index += 1) {
    const slot = slots[index] as number;
    if ((levels[slot] as number) < (levels[lowest] as number)) lowest = slot;
  }
  return lowest;
}
