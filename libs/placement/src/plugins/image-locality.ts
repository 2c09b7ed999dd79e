import type { NodeFacts } from "../facts.ts";

/** Images below this sum are not worth going after; a container's share above the other does not count. */
const LEAST_BYTES = 23 * 2 ** 20;
const MOST_BYTES_PER_CONTAINER = 1000 * 2 ** 20;

/** Which nodes have which images. */
export class ImageLocality {
  readonly #nodes: number;
  /** By image: its size, as the first node told it, and the nodes that have it. */
  readonly #images = new Map<string, { readonly bytes: number; readonly nodes: Set<number> }>();

  constructor(nodes: readonly NodeFacts[]) {
    this.#nodes = nodes.length;
    nodes.forEach(({ images }, index) => {
      for (const { names, sizeBytes } of images) for (const name of names) this.#note(name, sizeBytes, index);
    });
  }

  /** Of 100, for each node, the more of a pod's images it has; null where no node has one. */
  scores(images: readonly string[], containers: number): Uint8Array | null {
    const known = images.flatMap((image) => this.#images.get(image) ?? []);
    if (known.length === 0) return null;
    const sums = new Float64Array(this.#nodes);
    for (const { bytes, nodes } of known) {
      const worth = Math.trunc(bytes * (nodes.size / this.#nodes));
      for (const node of nodes) sums[node] = (sums[node] ?? 0) + worth;
    }
    return Uint8Array.from(sums, (sum) => imageScore(sum, containers));
  }

  #note(name: string, bytes: number, node: number): void {
    const known = this.#images.get(name);
    if (known === undefined) this.#images.set(name, { bytes, nodes: new Set([node]) });
    else known.nodes.add(node);
  }
}

function imageScore(bytes: number, containers: number): number {
  const most = MOST_BYTES_PER_CONTAINER * containers;
  const clamped = Math.min(Math.max(bytes, LEAST_BYTES), most);
  return Math.trunc((100 * (clamped - LEAST_BYTES)) / (most - LEAST_BYTES));
}
