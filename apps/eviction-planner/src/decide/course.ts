import type { Landing, Spread } from "@evenkeel/scoring";
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
 * The least gain of a move, as the fall of the sum of squared deviations: what moving 1 % of a node to one that is 1.5 % below
 * it brings. An eviction for less is not worth the disturbance, and noise would cause it.
 */
const LEAST_GAIN = 1e-4;

/** What a search knows of pods and nodes. Both are rows of the snapshot. */
export interface SearchInput {
  readonly utilisation: Utilisation;
  readonly landings: Landings;
  readonly budgets: Budgets;
  /** The level that no node may exceed by a landing. */
  readonly highestLanding: number;
  nodeOf(pod: number): number;
  /** The share of its gain that a move loses for what it disturbs. */
  costOf(pod: number): number;
  /** What the gain counts more if the pod lands on the node. */
  bonus(pod: number, node: number): number;
  canPreempt(pod: number): boolean;
  /** Whether planning goes on as if this did not hold a pod, to find out what it costs. */
  ignores(hold: Hold): boolean;
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
  /** The gain by which candidates are compared: with preferred nodes, less the cost. */
  readonly score: number;
}

export interface MadeMove extends Candidate {
  readonly from: number;
  /** σ after this move and all before it. */
  readonly sigma: number;
}

/** A plan in the making: the moves so far, and the cluster after them. */
export class Course {
  readonly #input: SearchInput;
  readonly #moves: MadeMove[] = [];
  readonly #moved = new Set<number>();
  #spread: Spread;

  constructor(input: SearchInput, spread: Spread) {
    this.#input = input;
    this.#spread = spread;
  }

  get spread(): Spread {
    return this.#spread;
  }

  get moves(): readonly MadeMove[] {
    return this.#moves;
  }

  hasMoved(pod: number): boolean {
    return this.#moved.has(pod);
  }

  /** What holds the pod by what was spent so far. */
  budgetHold(pod: number): Hold | undefined {
    for (const hold of this.#input.budgets.holds(pod)) if (!this.#input.ignores(hold)) return hold;
    return undefined;
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
    let [returns, unknown, tooHot] = [0, 0, 0];
    for (const { node, probability } of possible) {
      const to = utilisation.slotOf[node] as number;
      if (node === from) returns += probability;
      else if (to === NONE) unknown += probability;
      else {
        const size = utilisation.sizeOn(pod, node);
        known.push({ to, size, probability });
        if (this.#spread.level(to) + size > highestLanding) tooHot += probability;
      }
    }
    if (returns > MOST_RETURNS) return hold("ReturnsToSource");
    if (unknown > MOST_DOUBT) return hold("LandingUnknown");
    if (tooHot > MOST_DOUBT && !this.#input.ignores(hold("LandingTooHot"))) return hold("LandingTooHot");
    return this.#judged(pod, possible, known);
  }

  /** The same candidate at this point of the search, if it still lands where it did. */
  again({ pod, possible, landings }: Candidate): Candidate {
    return this.#judged(pod, possible, landings);
  }

  isWorthwhile({ gain }: Candidate): boolean {
    return gain * this.#spread.count >= LEAST_GAIN;
  }

  make(candidate: Candidate): void {
    const { budgets, landings } = this.#input;
    const { pod } = candidate;
    const from = this.#input.nodeOf(pod);
    this.#spread.move(this.#slotOf(from), this.#input.utilisation.sizeOn(pod, from), candidate.landings);
    landings.move(pod, likeliest(candidate, from));
    budgets.spend(pod);
    this.#moved.add(pod);
    this.#moves.push({ ...candidate, from, sigma: this.#spread.sigma });
  }

  /** Makes a move, looks at what is then possible, and takes the move back. */
  suppose<T>(candidate: Candidate, look: () => T): T {
    const { budgets, landings } = this.#input;
    const { pod } = candidate;
    const before = this.#spread;
    this.#spread = before.copy();
    this.make(candidate);
    try {
      return look();
    } finally {
      this.#moves.pop();
      this.#moved.delete(pod);
      budgets.giveBack(pod);
      landings.takeBack(pod, likeliest(candidate, this.#input.nodeOf(pod)));
      this.#spread = before;
    }
  }

  #judged(pod: number, possible: readonly PossibleNode[], landings: readonly Landing[]): Candidate {
    const { utilisation } = this.#input;
    const from = this.#input.nodeOf(pod);
    const [slot, size] = [this.#slotOf(from), utilisation.sizeOn(pod, from)];
    let [gain, bonus] = [0, 0];
    for (const { to, size: added, probability } of landings) {
      gain -= probability * this.#spread.change(slot, size, to, added);
      bonus += probability * this.#input.bonus(pod, utilisation.nodeAt[to] as number);
    }
    const score = gain * (1 + bonus) * (1 - this.#input.costOf(pod));
    return { pod, possible, landings, gain, score };
  }

  #slotOf(node: number): number {
    return this.#input.utilisation.slotOf[node] as number;
  }
}

/** The node that stands for all possible ones where a whole pod must be somewhere. */
function likeliest({ possible }: Candidate, from: number): number {
  return possible.find(({ node }) => node !== from)?.node ?? from;
}
