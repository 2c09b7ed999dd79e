import type { Holdings } from "@evenkeel/scoring";
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
    const bySlot = Array.from(utilisation.nodeAt, (): number[] => []);
    const sizes = new Float64Array(pods.uid.length);
    for (let pod = 0; pod < sizes.length; pod += 1) {
      const node = pods.node[pod] as number;
      const slot = utilisation.slotOf[node];
      if (slot === undefined || slot < 0 || !isMovable(pod)) continue;
      sizes[pod] = utilisation.sizeOn(pod, node);
      bySlot[slot]?.push(pod);
    }
    const offsets = [0];
    for (const own of bySlot) {
      own.sort((a, b) => {
        const difference = (sizes[b] as number) - (sizes[a] as number);
        return difference === 0 ? ((pods.uid[a] as string) < (pods.uid[b] as string) ? -1 : 1) : difference;
      });
      offsets.push((offsets.at(-1) ?? 0) + own.length);
    }
    this.#utilisation = utilisation;
    this.#offsets = Int32Array.from(offsets);
    this.#pods = Int32Array.from(bySlot.flat());
    this.#sizes = Float64Array.from(this.#pods, (pod) => sizes[pod] as number);
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
