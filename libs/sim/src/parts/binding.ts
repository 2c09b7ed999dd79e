import type { Clock } from "@evenkeel/runtime";
import { fieldsOr, listOr, textOr } from "../json.ts";
import { timestamp } from "../objects/identity.ts";
import type { Objects, Place } from "../objects/objects.ts";
import { conflict, invalid, requiredValue } from "../status.ts";
import type { Store } from "../storage/store.ts";
import { type ResourceType, tableName } from "../types/resource-type.ts";

interface BindingParts {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: Clock;
}

/** Gives a pod to a node: the one way to do so, and for good. Fails with Conflict if the pod has a node or is going. */
export function bindPod({ store, objects, clock }: BindingParts, type: ResourceType, place: Place, node: string): void {
  const pod = objects.get(type, place);
  const spec = fieldsOr(pod["spec"]);
  const bound = textOr(spec["nodeName"]);
  if (node === "") throw invalid(type, place.name, [requiredValue("target.name")]);
  if (bound !== "") throw conflict(type, place.name, `pod ${place.name} is already assigned to node "${bound}"`);
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(type, place.name, `pod ${place.name} is being deleted, cannot be assigned to a host`);
  }
  const status = fieldsOr(pod["status"]);
  const others = listOr(status["conditions"]).filter((condition) => fieldsOr(condition)["type"] !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastTransitionTime: timestamp(clock.now()) };
  store.put(store.table(tableName(type)), {
    ...{ ...pod, spec: { ...spec, nodeName: node } },
    status: { ...status, conditions: [...others, scheduled] },
  });
}
