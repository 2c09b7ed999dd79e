import { quantity } from "@evenkeel/placement";
import { type Fields, fieldsOr, listOr, omit, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { timestamp } from "../objects/identity.ts";
import type { Store } from "../storage/store.ts";
import { builtIn } from "./built-in-type.ts";
import type { ResourceType } from "./resource-type.ts";

const METRICS = "metrics.k8s.io/v1beta1";
const CPU = "kwok.x-k8s.io/usage-cpu";
const MEMORY = "kwok.x-k8s.io/usage-memory";

/** Cores and bytes. */
interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

/**
 * Usage as metrics-server tells it. That of a running pod stands in its annotations, and that of a node is the sum of
 * its pods and of what the node's own annotations add. A pod or node without any is not measured, and so is not listed.
 */
export const metricsTypes: readonly ResourceType[] = [
  builtIn(`${METRICS} NodeMetrics nodes cluster`, {}, { computed: nodeMetrics, columns: [] }),
  builtIn(`${METRICS} PodMetrics pods`, {}, { computed: podMetrics, columns: [] }),
];

function podMetrics(store: Store, now: number): readonly StoredObject[] {
  return measuredPods(store).map(({ pod, usage }) => {
    const containers = listOr(fieldsOr(pod["spec"])["containers"]).map((container, index) => ({
      name: textOr(fieldsOr(container)["name"]),
      usage: quantities(index === 0 ? usage : { cpu: 0, memory: 0 }),
    }));
    return { ...measurement("PodMetrics", pod, now), containers };
  });
}

function nodeMetrics(store: Store, now: number): readonly StoredObject[] {
  const sums = new Map<string, Usage>();
  const add = (node: string, { cpu, memory }: Usage): void => {
    const before = sums.get(node) ?? { cpu: 0, memory: 0 };
    sums.set(node, { cpu: before.cpu + cpu, memory: before.memory + memory });
  };
  for (const { pod, usage } of measuredPods(store)) add(textOr(fieldsOr(pod["spec"])["nodeName"]), usage);
  return store
    .table("/nodes")
    .objects()
    .flatMap((node) => {
      const own = annotated(node);
      if (own !== undefined) add(node.metadata.name, own);
      const usage = sums.get(node.metadata.name);
      return usage === undefined ? [] : [{ ...measurement("NodeMetrics", node, now), usage: quantities(usage) }];
    });
}

function measuredPods(store: Store): readonly { readonly pod: StoredObject; readonly usage: Usage }[] {
  return store
    .table("/pods")
    .objects()
    .flatMap((pod) => {
      const usage = fieldsOr(pod["status"])["phase"] === "Running" ? annotated(pod) : undefined;
      return usage === undefined ? [] : [{ pod, usage }];
    });
}

function annotated({ metadata }: StoredObject): Usage | undefined {
  const { [CPU]: cpu, [MEMORY]: memory } = metadata.annotations ?? {};
  if (cpu === undefined && memory === undefined) return undefined;
  return { cpu: quantity(cpu ?? 0), memory: quantity(memory ?? 0) };
}

function measurement(kind: string, { metadata }: StoredObject, now: number): StoredObject {
  const { name, namespace, labels, creationTimestamp } = metadata;
  return {
    ...{ apiVersion: METRICS, kind, timestamp: timestamp(now), window: "15s" },
    // Alone among objects, measurements have no uid and no version.
    metadata: omit({ name, namespace, labels, creationTimestamp }) as unknown as StoredObject["metadata"],
  };
}

function quantities({ cpu, memory }: Usage): Fields {
  return { cpu: `${Math.round(cpu * 1e9)}n`, memory: String(Math.round(memory)) };
}
