import { type KubeClient, kubeErrors } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import { type Clock, explain } from "@evenkeel/runtime";
import type { NodeReading } from "../../decide/snapshot.ts";
import type { metrics } from "../../metrics.ts";
import type { NodeConfig } from "./node-config.ts";
import { cpuUsage, customMetric, type MeasuredNodes } from "./node-metrics.ts";
import type { Predictor } from "./predictor.ts";

export interface WattsOptions {
  readonly kube: Pick<KubeClient, "request">;
  readonly predictor: Pick<Predictor, "round">;
  readonly nodeFaults: Metrics<typeof metrics>["nodeFaults"];
  readonly clock: Clock;
}

/** Milliseconds after which a measurement is too old: twice what WAO keeps one for. */
const STALE = 120_000;

/** What WAO's Fake collectors measure. */
const FAKE = { inlet_temp: 15.5, delta_p: 7.5 };

type Fault = "usage" | "stale" | "inlet_temp" | "delta_p" | "node_config" | "predictor";

class NodeFault extends Error {
  readonly kind: Fault;

  constructor(kind: Fault, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Predicts the watts of nodes at their present use, and of one more CPU. Each metric is one call for all nodes. */
export class Watts {
  readonly #options: WattsOptions;

  constructor(options: WattsOptions) {
    this.#options = options;
  }

  async read(
    nodes: readonly NodeReading[],
    configs: ReadonlyMap<string, NodeConfig>,
    signal: AbortSignal,
  ): Promise<readonly NodeReading[]> {
    const { kube, predictor, nodeFaults } = this.#options;
    const [usage, inletTemp, deltaP] = await Promise.all([
      orFault(cpuUsage(kube, signal)),
      orFault(customMetric(kube, "inlet_temp", signal)),
      orFault(customMetric(kube, "delta_p", signal)),
    ]);
    const predict = predictor.round(signal);
    const input = (node: NodeReading, config: NodeConfig) => ({
      cpu: (100 * this.#value(usage, node.name, "usage")) / node.capacity,
      inletTemp: this.#collected(inletTemp, node.name, "inlet_temp", config.spec?.metricsCollector?.inletTemp?.type),
      deltaP: this.#collected(deltaP, node.name, "delta_p", config.spec?.metricsCollector?.deltaP?.type),
    });
    return Promise.all(
      nodes.map(async (node): Promise<NodeReading> => {
        const { name, capacity } = node;
        try {
          const config = configs.get(name);
          if (!config) throw new NodeFault("node_config", "no NodeConfig names it");
          if (capacity <= 0) throw new NodeFault("usage", "its CPU capacity is not known");
          const now = input(node, config);
          const watts = await predict(config, now).catch(asPredictorFault);
          const after = { ...now, cpu: now.cpu + 100 / capacity };
          const hasRoom = node.schedulable && node.free.cpu >= 1000 && node.free.pods >= 1 && after.cpu <= 100;
          const more = hasRoom ? await predict(config, after).catch(() => null) : null;
          return { ...node, watts, marginalWatts: more === null ? null : Math.max(0, more - watts) };
        } catch (error) {
          if (!(error instanceof NodeFault)) throw error;
          nodeFaults.inc({ fault: error.kind });
          return { ...node, fault: `${name}: ${error.message}` };
        }
      }),
    );
  }

  #collected(read: Read, node: string, metric: "inlet_temp" | "delta_p", type: string | undefined): number {
    return type === "Fake" && !("error" in read) && !read.has(node) ? FAKE[metric] : this.#value(read, node, metric);
  }

  #value(read: Read, node: string, metric: "usage" | "inlet_temp" | "delta_p"): number {
    if ("error" in read) throw new NodeFault(metric, `${metric} could not be read: ${read.error}`);
    const found = read.get(node);
    if (found === undefined || !Number.isFinite(found.value)) throw new NodeFault(metric, `it has no ${metric}`);
    if (this.#options.clock.now() - found.at > STALE) throw new NodeFault("stale", `its ${metric} is old`);
    return found.value;
  }
}

type Read = MeasuredNodes | { readonly error: string };

async function orFault(read: Promise<MeasuredNodes>): Promise<Read> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof kubeErrors.NotFound) return { error: "the API is not served" };
    return { error: explain(error) };
  }
}

function asPredictorFault(error: unknown): never {
  throw new NodeFault("predictor", error instanceof Error ? error.message : String(error));
}
