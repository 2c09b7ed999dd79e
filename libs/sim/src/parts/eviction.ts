import { type LabelSelector, matchesSelector } from "@evenkeel/placement";
import type { Clock } from "@evenkeel/runtime";
import { type Fields, fieldsOr, listOr, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import type { DeleteOptions } from "../objects/deletion.ts";
import { timestamp } from "../objects/identity.ts";
import type { Objects, Place } from "../objects/objects.ts";
import { ApiFault } from "../status.ts";
import type { Store } from "../storage/store.ts";
import { type ResourceType, tableName } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";

interface EvictionParts {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly objects: Objects;
  readonly clock: Clock;
}

/** Evicts a pod: deletes it unless a disruption budget forbids it now, and notes it in the budget. */
export function evictPod(
  parts: EvictionParts,
  type: ResourceType,
  place: Place,
  eviction: Fields,
  dryRun: boolean,
): void {
  const { objects } = parts;
  const given = fieldsOr(eviction["deleteOptions"]) as DeleteOptions & { readonly dryRun?: unknown };
  const options = { ...given, dryRun: dryRun || listOr(given.dryRun).includes("All") };
  const pod = objects.get(type, place);
  if (asksBudget(pod)) {
    const budget = budgetOf(parts, pod);
    // A dry run of the delete first, so that an eviction that fails uses no budget.
    objects.delete(type, place, { ...options, dryRun: true });
    if (budget !== undefined) spend(parts, budget, pod, options.dryRun);
  }
  objects.delete(type, place, options);
}

/** Budgets guard pods that run; one that has not started, has ended or is terminating serves no requests. */
function asksBudget({ metadata, ...pod }: StoredObject): boolean {
  const phase = textOr(fieldsOr(pod["status"])["phase"]);
  return metadata.deletionTimestamp === undefined && !["Pending", "Succeeded", "Failed"].includes(phase);
}

function budgetOf({ store, types }: EvictionParts, pod: StoredObject): StoredObject | undefined {
  const type = types.find("policy", "v1", "poddisruptionbudgets");
  const all = type === undefined ? [] : store.table(tableName(type)).objects();
  const guards = all.filter((budget) => {
    const selector = fieldsOr(budget["spec"])["selector"] as LabelSelector | undefined;
    return (
      budget.metadata.namespace === pod.metadata.namespace &&
      selector !== undefined &&
      matchesSelector(selector, pod.metadata.labels ?? {})
    );
  });
  if (guards.length > 1) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new ApiFault(500, "InternalError", message);
  }
  return guards[0];
}

function spend(
  { objects, types, clock }: EvictionParts,
  budget: StoredObject,
  pod: StoredObject,
  dryRun: boolean,
): void {
  const status = fieldsOr(budget["status"]);
  const count = (field: string): number => Number(status[field] ?? 0);
  const { name, namespace, generation = 0 } = budget.metadata;
  if (count("observedGeneration") < generation) {
    throw blocked(`The disruption budget ${name} is still being processed by the server.`);
  }
  const healthyEnough = count("currentHealthy") >= count("desiredHealthy") && count("desiredHealthy") > 0;
  const always = fieldsOr(budget["spec"])["unhealthyPodEvictionPolicy"] === "AlwaysAllow";
  if (!isReady(pod) && (always || healthyEnough)) return;
  if (count("disruptionsAllowed") <= 0) {
    throw blocked(
      `The disruption budget ${name} needs ${count("desiredHealthy")} healthy pods and has ${count("currentHealthy")} currently`,
    );
  }
  const type = types.find("policy", "v1", "poddisruptionbudgets");
  if (type === undefined) return;
  const disruptedPods = { ...fieldsOr(status["disruptedPods"]), [pod.metadata.name]: timestamp(clock.now()) };
  const spent = { ...status, disruptionsAllowed: count("disruptionsAllowed") - 1, disruptedPods };
  const options = { manager: "evenkeel-sim", part: "status", subresource: "status", dryRun } as const;
  objects.update(type, { namespace, name }, (old) => ({ ...old, status: spent }), options);
}

function blocked(message: string): ApiFault {
  const causes = [{ reason: "DisruptionBudget", message }];
  return new ApiFault(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes,
  });
}

function isReady(pod: StoredObject): boolean {
  const conditions = listOr(fieldsOr(pod["status"])["conditions"]).map(fieldsOr);
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
