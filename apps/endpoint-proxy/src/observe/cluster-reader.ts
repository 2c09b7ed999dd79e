import type { KubeClient } from "@evenkeel/kube";
import { explain } from "@evenkeel/runtime";
import type { ClusterReading } from "../decide/snapshot.ts";
import type { ScoreSource } from "../decide/standing.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { type NodeConfig, nodeConfigs } from "./wao/node-config.ts";
import type { Watts } from "./wao/watts.ts";

export interface ClusterReaderOptions {
  readonly nodes: Pick<ClusterNodes, "read" | "whenSynced">;
  readonly watts: Pick<Watts, "read">;
  readonly kube: Pick<KubeClient, "resource">;
  /** Of NodeConfigs. */
  readonly namespace: string;
  readonly source: "auto" | ScoreSource;
  /** Milliseconds that a reading may take; nodes that are not read by then have no watts. */
  readonly deadline: number;
}

/** Reads what the own cluster's score is made of. */
export class ClusterReader {
  readonly #options: ClusterReaderOptions;
  /** What the last reading found, so that a failed list does not change what scores are made of. */
  #source: ScoreSource | undefined;

  constructor(options: ClusterReaderOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<ClusterReading> {
    const { nodes, watts, source, deadline } = this.#options;
    await nodes.whenSynced(signal);
    if (source === "capacity") return this.#capacity();
    let configs: ReadonlyMap<string, NodeConfig>;
    try {
      configs = await nodeConfigs(this.#options.kube, this.#options.namespace, signal);
    } catch (error) {
      if (source === "auto" && this.#source === "capacity") return this.#capacity();
      return { source: "watts", nodes: nodes.read(), fault: `NodeConfigs could not be read: ${explain(error)}` };
    }
    this.#source = configs.size > 0 || source === "watts" ? "watts" : "capacity";
    if (this.#source === "capacity") return this.#capacity();
    const limited = AbortSignal.any([signal, AbortSignal.timeout(deadline)]);
    return { source: "watts", nodes: await watts.read(nodes.read(), configs, limited), fault: null };
  }

  #capacity(): ClusterReading {
    return { source: "capacity", nodes: this.#options.nodes.read(), fault: null };
  }
}
