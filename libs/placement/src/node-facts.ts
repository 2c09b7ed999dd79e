import type { NodeFacts } from "./facts.ts";
import type { CsiNodeJson, NodeJson } from "./kubernetes-json.ts";
import { amounts } from "./requests.ts";

/** What the scheduler reads of a Node and of its CSINode. */
export function nodeFacts({ metadata, spec, status }: NodeJson, csiNode?: CsiNodeJson): NodeFacts {
  return {
    name: metadata?.name ?? "",
    labels: metadata?.labels ?? {},
    taints: spec?.taints ?? [],
    unschedulable: spec?.unschedulable ?? false,
    allocatable: amounts(status?.allocatable),
    images: (status?.images ?? []).map(({ names = [], sizeBytes = 0 }) => ({ names, sizeBytes })),
    attachLimits: Object.fromEntries(
      (csiNode?.spec?.drivers ?? []).flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count]],
      ),
    ),
  };
}
