import type { Holdings } from "@evenkeel/scoring";
import type { Load, Utilisation } from "./utilisation.ts";

/** Pods that may be moved, by slot; on each slot the largest first, equal ones by uid. */
export class MovablePods {
  readonly #offsets: Int32Array;
  readonly #pods: Int32Array;
  readonly #utilisation: Utilisation;

  constructor(
    utilisation: Utilisation,
    pods: { readonly uid: readonly string[]; readonly node: ArrayLike<number> },
    isMovable: (pod: number) => boolean,
  ) {
    const bySlot = Array.from(utilisation.nodeAt, (): number[] => []);
    for (let pod = 0; pod < pods.uid.length; pod += 1) {
      const slot = utilisation.slotOf[pods.node[pod] as number];
      if (slot !== undefined && slot >= 0 && isMovable(pod)) bySlot[slot]?.push(pod);
    }
    const offsets = [0];
    for (const [slot, own] of bySlot.entries()) {
      const node = utilisation.nodeAt[slot] as number;
      const sizes = new Map(own.map((pod) => [pod, utilisation.sizeOn(pod, node)]));
      own.sort(
        (a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) || ((pods.uid[a] ?? "") < (pods.uid[b] ?? "") ? -1 : 1),
      );
      offsets.push((offsets.at(-1) ?? 0) + own.length);
    }
    this.#utilisation = utilisation;
    this.#offsets = Int32Array.from(offsets);
    this.#pods = Int32Array.from(bySlot.flat());
  }

  get count(): number {
    return this.#pods.length;
  }

  of(slot: number): readonly number[] {
    return [...this.#pods.subarray(this.#offsets[slot], this.#offsets[slot + 1])];
  }

  /** What the bound on σ is made of. */
  holdings(): Holdings {
    const { levels, nodeAt, shares } = this.#utilisation;
    const sizes = new Float64Array(this.#pods.length);
    nodeAt.forEach((node, slot) => {
      for (let index = this.#offsets[slot] as number; index < (this.#offsets[slot + 1] as number); index += 1) {
        sizes[index] = this.#utilisation.sizeOn(this.#pods[index] as number, node);
      }
    });
    const stretch = stretchOf(shares);
    return { levels, offsets: this.#offsets, sizes, ...(stretch === undefined ? {} : { stretch }) };
  }
}

/** How much more or less than on its own node a pod can count elsewhere; undefined where all nodes have the same capacity. */
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
