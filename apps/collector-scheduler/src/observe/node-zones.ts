import type { Node, ReadStore } from "@evenkeel/kube";

const ZONE = "topology.kubernetes.io/zone";

/** The zones of nodes, by the label that cloud providers set. */
export class NodeZones {
  readonly #store: Pick<ReadStore<Node>, "get" | "subscribe">;

  constructor(store: Pick<ReadStore<Node>, "get" | "subscribe">) {
    this.#store = store;
  }

  zoneOf(node: string): string | undefined {
    return labelOf(this.#store.get(node));
  }

  /** Calls `listener` with the name of each node whose zone changes, until the returned function is called. */
  onChange(listener: (node: string) => void): () => void {
    return this.#store.subscribe((change) => {
      const before = change.type === "added" ? undefined : labelOf(change.old);
      const after = change.type === "deleted" ? undefined : labelOf(change.object);
      if (before !== after) listener(change.key);
    });
  }
}

function labelOf(node: Node | undefined): string | undefined {
  return node?.metadata.labels?.[ZONE];
}
