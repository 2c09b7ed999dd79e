import type { KeySource, Node, ReadStore } from "@evenkeel/kube";
import { type Clock, sleep } from "@evenkeel/runtime";

type NodeStore = Pick<ReadStore<Node>, "get" | "subscribe" | "hasSynced" | "whenSynced">;

const ZONE = "topology.kubernetes.io/zone";

/** Milliseconds after which nodes are no longer waited for: the service may have no right to list them. */
const WAIT = 30_000;

/** The zones of nodes, by the label that cloud providers set. */
export class NodeZones {
  readonly #store: NodeStore;
  readonly #clock: Clock;
  readonly #since: number;

  constructor(store: NodeStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Whether the nodes are not listed yet and may be soon. */
  get isAwaited(): boolean {
    return !this.#store.hasSynced && this.#clock.monotonic() - this.#since < WAIT;
  }

  zoneOf(node: string): string | undefined {
    return labelOf(this.#store.get(node));
  }

  /** Names no object, but lets a controller wait for the zones: without them collectors have no pool. */
  awaited(): KeySource {
    return {
      whenSynced: async (signal) => {
        const waiting = new AbortController();
        const either = AbortSignal.any([signal, waiting.signal]);
        try {
          await Promise.race([this.#store.whenSynced(either), sleep(this.#clock, WAIT, either)]);
        } finally {
          waiting.abort();
        }
      },
      subscribe: () => () => undefined,
    };
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
