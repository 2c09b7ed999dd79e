import type { Spread } from "@evenkeel/scoring";
import type { Budgets } from "./budgets.ts";
import type { Landings, PossibleNode } from "./landings.ts";
import { type Hold, hold } from "./obstacles.ts";
import { NONE } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

/** A replacement that is likelier than this to come back to its node is not worth an eviction. */
const MOST_RETURNS = 0.05;
/** A pod that is likelier than this to land where it does harm, or where that is unknown, stays. */
const MOST_DOUBT = 0.1;
/**
 * The least gain of a move, as the fall of the sum of squared deviations: what moving 1 % of a node to one that is 1.5
 * % below it brings. An eviction for less is not worth the disturbance, and noise would cause it.
 */
const LEAST_GAIN = 1e-4;

/**
 * The most that a move counts less because pods of the same owner move before it. One pod of an owner goes at a time,
 * so of moves that bring nearly the same those of several owners disturb less and are made sooner.
 */
const SAME_OWNER = 0.05;

/** Its multiples, modulo 1, fill the interval evenly. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
/** Levels that differ by less are the same. */
const SAME_LEVEL = 1e-9;

/** What a search knows of pods and nodes. Both are rows of the snapshot. */
export interface SearchInput {
  readonly podCount: number;
  readonly utilisation: Utilisation;
  readonly landings: Landings;
  readonly budgets: Budgets;
  /** The level that no node may exceed by a landing. */
  readonly highestLanding: number;
  nodeOf(pod: number): number;
  ownerOf(pod: number): number;
  /** The share of its gain that a move loses for what it disturbs. */
  costOf(pod: number): number;
  /** What the gain counts more if the pod lands on the node. */
  bonus(pod: number, node: number): number;
  canPreempt(pod: number): boolean;
  /** Whether planning goes on as if this did not hold a pod, to find out what it costs. */
  ignores(hold: Hold): boolean;
}

/** A slot where a pod may land, and what it adds there. */
export interface Landing {
  readonly to: number;
  readonly size: number;
  readonly probability: number;
}

/** A move that may be made, with what it would bring now. */
export interface Candidate {
  readonly pod: number;
  /** All nodes where it may land. */
  readonly possible: readonly PossibleNode[];
  /** The same by slot, without its own node and nodes of unknown load: with their probability nothing is gained. */
  readonly landings: readonly Landing[];
  /** The expected fall of the variance. */
  readonly gain: number;
  /** What the gain counts: more on preferred nodes, less for what the move disturbs. */
  readonly factor: number;
  /** The gain by which candidates are compared: gain times factor. */
  readonly score: number;
}

export interface MadeMove extends Candidate {
  readonly from: number;
  /** The node that the plan counts on. */
  readonly to: number;
  /** σ after this move and all before it. */
  readonly sigma: number;
}

/** A plan in the making: the moves so far, and the cluster after them. */
export class Course {
  readonly #input: SearchInput;
  readonly #moves: MadeMove[] = [];
  /** By pod: 1 if it has moved. */
  readonly #moved: Uint8Array;
  /** By owner, how many of its pods have moved. */
  readonly #movesOf = new Map<number, number>();
  #spread: Spread;

  constructor(input: SearchInput, spread: Spread) {
    this.#input = input;
    this.#spread = spread;
    this.#moved = new Uint8Array(input.podCount);
  }

  get spread(): Spread {
    return this.#spread;
  }

  get moves(): readonly MadeMove[] {
    return this.#moves;
  }

  hasMoved(pod: number): boolean {
    return this.#moved[pod] === 1;
  }

  /** What holds the pod by what was spent so far. */
  budgetHold(pod: number): Hold | undefined {
    return this.#input.budgets.hold(pod, (hold) => !this.#input.ignores(hold));
  }

  /** What moving the pod would bring now, or why it stays. */
  evaluate(pod: number): Candidate | Hold {
    const held = this.budgetHold(pod);
    if (held !== undefined) return held;
    const { landings, utilisation, highestLanding } = this.#input;
    const possible = landings.of(pod);
    if (possible.length === 0) return hold(this.#input.canPreempt(pod) ? "OnlyByPreemption" : "NoOtherNode");
    const from = this.#input.nodeOf(pod);
    const known: Landing[] = [];
    const named = possible.reduce((sum, { probability }) => sum + probability, 0);
    let [returns, unknown, tooHot] = [0, 0, 0];
    for (const { node, probability: ofNode } of possible) {
      const probability = ofNode / named;
      const to = utilisation.slotOf[node] as number;
      if (node === from) returns += probability;
      else if (to === NONE) unknown += probability;
      else {
        const size = utilisation.sizeOn(pod, node);
        this.#addLanding(known, { to, size, probability });
        if (this.#spread.level(to) + size > highestLanding) tooHot += probability;
      }
    }
    if (returns > MOST_RETURNS) return hold("ReturnsToSource");
    if (unknown > MOST_DOUBT) return hold("LandingUnknown");
    if (tooHot > MOST_DOUBT && !this.#input.ignores(hold("LandingTooHot"))) return hold("LandingTooHot");
    // Equally likely nodes in the order of their levels: names decide nothing that makes a difference.
    known.sort(
      (a, b) => b.probability - a.probability || this.#spread.level(a.to) - this.#spread.level(b.to) || a.size - b.size,
    );
    const gain = this.#gainOf(pod, known);
    const factor = this.#factor(pod, known);
    return { pod, possible, landings: known, gain, factor, score: gain * factor };
  }

  /**
   * Of nodes with the same level the first stands for all: it makes no difference which of them the pod lands on, and
   * the next pod will take another.
   */
  #addLanding(known: Landing[], landing: Landing): void {
    const level = this.#spread.level(landing.to);
    const alike = known.findIndex(
      ({ to, size }) => size === landing.size && Math.abs(this.#spread.level(to) - level) < SAME_LEVEL,
    );
    const first = known[alike];
    if (first === undefined) known.push(landing);
    else known[alike] = { ...first, probability: first.probability + landing.probability };
  }

  /** The score of a candidate at this point of the search, if it still lands where it did. */
  scoreOf({ pod, landings, factor }: Candidate): number {
    return this.#gainOf(pod, landings) * factor;
  }

  /** Whether a fall of the variance is worth so many moves. */
  isWorth(gain: number, moves: number): boolean {
    return gain * this.#spread.count >= moves * LEAST_GAIN;
  }

  make(candidate: Candidate): void {
    const { utilisation, budgets, landings } = this.#input;
    const { pod } = candidate;
    const from = this.#input.nodeOf(pod);
    const landing = this.#countedOn(candidate);
    const to = utilisation.nodeAt[landing.to] as number;
    this.#spread.move(this.#slotOf(from), utilisation.sizeOn(pod, from), landing.to, landing.size);
    landings.move(pod, to);
    budgets.spend(pod);
    this.#moved[pod] = 1;
    this.#countMove(pod, 1);
    this.#moves.push({ ...candidate, from, to, sigma: this.#spread.sigma });
  }

  /** Makes moves, looks at what is then possible, and takes the moves back. */
  suppose<T>(moves: readonly Candidate[], look: () => T): T {
    const { budgets, landings } = this.#input;
    const before = this.#spread;
    this.#spread = before.copy();
    for (const move of moves) this.make(move);
    try {
      return look();
    } finally {
      for (let left = moves.length; left > 0; left -= 1) {
        const { pod, to } = this.#moves.pop() as MadeMove;
        this.#moved[pod] = 0;
        this.#countMove(pod, -1);
        budgets.refund(pod);
        landings.takeBack(pod, to);
      }
      this.#spread = before;
    }
  }

  /**
   * The landing that the plan goes on with. Over many moves each landing is taken as often as it is likely, so that
   * what the plan predicts is neither the best nor the worst case; which one it is at each move is fixed.
   */
  #countedOn({ landings }: Candidate): Landing {
    const all = landings.reduce((sum, { probability }) => sum + probability, 0);
    let left = ((this.#moves.length * GOLDEN_RATIO) % 1) * all;
    return landings.find(({ probability }) => (left -= probability) < 0) ?? (landings[0] as Landing);
  }

  #gainOf(pod: number, landings: readonly Landing[]): number {
    const from = this.#input.nodeOf(pod);
    const [slot, taken] = [this.#slotOf(from), this.#input.utilisation.sizeOn(pod, from)];
    let gain = 0;
    for (const { to, size, probability } of landings) gain -= probability * this.#spread.change(slot, taken, to, size);
    return gain;
  }

  #factor(pod: number, landings: readonly Landing[]): number {
    let bonus = 0;
    for (const { to, probability } of landings) {
      bonus += probability * this.#input.bonus(pod, this.#input.utilisation.nodeAt[to] as number);
    }
    const before = this.#movesOf.get(this.#input.ownerOf(pod)) ?? 0;
    return (1 + bonus) * (1 - this.#input.costOf(pod)) * (1 - (SAME_OWNER * before) / (1 + before));
  }

  #countMove(pod: number, count: 1 | -1): void {
    const owner = this.#input.ownerOf(pod);
    this.#movesOf.set(owner, (this.#movesOf.get(owner) ?? 0) + count);
  }

  #slotOf(node: number): number {
    return this.#input.utilisation.slotOf[node] as number;
  }
}
