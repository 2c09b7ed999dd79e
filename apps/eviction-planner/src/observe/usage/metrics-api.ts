import {
  type KubeClient,
  type KubeObject,
  nodeMetrics,
  type NodeMetrics,
  podMetrics,
  type PodMetrics,
} from "@evenkeel/kube";
import { type Clock, withDeadline } from "@evenkeel/runtime";
import { UnusableUsage } from "../../errors.ts";
import { jsonObjects } from "../files/json-objects.ts";
import { type Measured, measuredNode, measuredPod, type Usage, type UsageSource } from "./usage.ts";

/** Milliseconds that the metrics server may take to begin an answer. */
const DEADLINE = 30_000;
/** Milliseconds that reading nodes and pods may take. */
export const READING = 90_000;

/**
 * Usage from metrics.k8s.io. Its LIST has no pages and 60 MB at 150,000 pods, so the answer is cut into objects while
 * it arrives: the event loop is never blocked, and the whole is never in memory.
 */
export function metricsApi(kube: Pick<KubeClient, "stream">, clock: Clock): UsageSource {
  const read = async <T extends KubeObject>(
    { plural, kind }: { readonly plural: string; readonly kind: string },
    measured: (object: T) => Measured,
    keyOf: (object: T) => string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Measured>> => {
    const path = `/apis/metrics.k8s.io/v1beta1/${plural}`;
    const { body, call } = await kube.stream({
      path,
      verb: "list",
      what: `${kind} of metrics.k8s.io`,
      signal,
      deadline: DEADLINE,
    });
    const all = new Map<string, Measured>();
    for await (const { object } of jsonObjects(call, body)) {
      if (object.kind === kind) all.set(keyOf(object as T), measured(object as T));
    }
    return all;
  };
  return {
    read: (outer) =>
      withDeadline({ clock, milliseconds: READING, signal: outer, what: "reading metrics.k8s.io" }, async (signal) => {
        const nodes = await read<NodeMetrics>(nodeMetrics, measuredNode, nodeName, signal);
        const pods = await read<PodMetrics>(podMetrics, measuredPod, podKey, signal);
        if (nodes.size === 0) throw new UnusableUsage({ source: "metrics.k8s.io", fault: "it has no node" });
        return { nodes, pods } satisfies Usage;
      }),
  };
}

function nodeName({ metadata: { name = "" } }: KubeObject): string {
  return name;
}

function podKey({ metadata: { namespace = "", name = "" } }: KubeObject): string {
  return `${namespace}/${name}`;
}
