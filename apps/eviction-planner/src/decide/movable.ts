import type { Holdings } from "@evenkeel/scoring";
import { NONE } from "./snapshot.ts";
import type { Load, Utilisation } from "./utilisation.ts";

/** Pods that may be moved, by slot; on each slot the largest first, equal ones by uid. */
export class MovablePods {
  readonly #offsets: Int32Array;
  readonly #pods: Int32Array;
  readonly #sizes: Float64Array;
  readonly #utilisation: Utilisation;

  constructor(
    utilisation: Utilisation,
    pods: { readonly uid: readonly string[]; readonly node: ArrayLike<number> },
    isMovable: (pod: number) => boolean,
  ) {
    const count = pods.uid.length;
    const slots = new Int32Array(count).fill(NONE);
    const sizes = new Float64Array(count);
    const offsets = new Int32Array(utilisation.nodeAt.length + 1);
    for (let pod = 0; pod < count; pod += 1) {
      const node = pods.node[pod] as number;
      const slot = utilisation.slotOf[node] ?? NONE;
      if (slot === NONE || !isMovable(pod)) continue;
      slots[pod] = slot;
      sizes[pod] = utilisation.sizeOn(pod, node);
      offsets[slot + 1] = (offsets[slot + 1] as number) + 1;
    }
    for (let slot = 1; slot < offsets.length; slot += 1) {
      offsets[slot] = (offsets[slot] as number) + (offsets[slot - 1] as number);
    }
    const sorted = new Int32Array(offsets.at(-1) ?? 0);
    const next = offsets.slice();
    for (let pod = 0; pod < count; pod += 1) {
      const slot = slots[pod] as number;
      if (slot === NONE) continue;
      const place = next[slot] as number;
      sorted[place] = pod;
      next[slot] = place + 1;
    }
    const compare = (a: number, b: number): -1 | 1 => {
      const one = sizes[a] as number;
      const other = sizes[b] as number;
      return one > other || (one === other && (pods.uid[a] as string) < (pods.uid[b] as string)) ? -1 : 1;
    };
    for (let slot = 0; slot + 1 < offsets.length; slot += 1) {
      sorted.subarray(offsets[slot], offsets[slot + 1]).sort(compare);
    }
    this.#utilisation = utilisation;
    this.#offsets = offsets;
    this.#pods = sorted;
    this.#sizes = new Float64Array(sorted.length).map((_, index) => sizes[sorted[index] as number] as number);
  }

  get count(): number {
    return this.#pods.length;
  }

  of(slot: number): Int32Array {
    return this.#pods.subarray(this.#offsets[slot], this.#offsets[slot + 1]);
  }

  /** What the bound on σ is made of. */
  holdings(): Holdings {
    const { levels, shares } = this.#utilisation;
    const stretch = stretchOf(shares);
    return { levels, offsets: this.#offsets, sizes: this.#sizes, ...(stretch === undefined ? {} : { stretch }) };
  }
}

/**
 * How much more or less than on its own node a pod can count elsewhere; undefined where all nodes have the same
 * capacity.
 */
function stretchOf(shares: readonly Load[]): Holdings["stretch"] {
  const range = (values: readonly number[]) => ({ low: Math.min(...values), high: Math.max(...values) });
  const cpu = range([...new Set(shares.map(({ cpu }) => cpu))]);
  const memory = range([...new Set(shares.map(({ memory }) => memory))]);
  if (!(cpu.low < cpu.high || memory.low < memory.high)) return undefined;
  // A resource without weight counts nowhere.
  const ratio = (one: number, other: number, otherwise: number) => (other === 0 ? otherwise : one / other);
  return {
    least: Float64Array.from(shares, (own) =>
      Math.min(ratio(cpu.low, own.cpu, Infinity), ratio(memory.low, own.memory, Infinity)),
    ),
    most: Float64Array.from(shares, (own) => Math.max(ratio(cpu.high, own.cpu, 0), ratio(memory.high, own.memory, 0))),
  };
}
