import type { NodeFacts, PodShape } from "../facts.ts";
import { nodeFacts } from "../node-facts.ts";
import { NO_LOOKUPS, type PodLookups, podShape } from "../pod-shape.ts";
import type { PodSpecJson } from "../kubernetes-json.ts";

/** A node of 4 processors and 16Gi. */
export function node(name: string, more: Partial<NodeFacts> = {}): NodeFacts {
  const labels = { "kubernetes.io/hostname": name, ...more.labels };
  const facts = nodeFacts({
    metadata: { name },
    status: { allocatable: { cpu: "4", memory: "16Gi", pods: "110" } },
  });
  return { ...facts, ...more, labels };
}

/** A shape whose only container requests that much. */
export function shape(
  requests: Readonly<Record<string, string>> = {},
  spec: PodSpecJson = {},
  metadata: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> } = {},
  lookups: Partial<PodLookups> = {},
): PodShape {
  const containers = [{ name: "main", image: "web:1", resources: { requests } }];
  return podShape({ metadata, spec: { containers, ...spec } }, { ...NO_LOOKUPS, ...lookups });
}
