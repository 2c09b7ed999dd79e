import { type LabelSelector, matchesSelector } from "@evenkeel/placement";
import { type Fields, fieldsOr, omit, textOr } from "../json.ts";
import { keyOf, objectKey, type StoredObject } from "../object.ts";
import type { Behaviour, World } from "./behaviour.ts";
import { countOf } from "./int-or-percent.ts";
import { ObjectIndex } from "./object-index.ts";
import {
  type Condition,
  controllerOf,
  isGoing,
  isOver,
  isReady,
  numberOr,
  putStatus,
  specOf,
  statusOf,
  tables,
  withConditions,
} from "./object-state.ts";
import { PodsByLabel } from "./pods-by-label.ts";
import { Work } from "./work.ts";

/** Tables of the controllers that a pod may have. A budget depends on their size. */
const SCALABLE: Readonly<Record<string, string>> = {
  Deployment: tables.deployments,
  ReplicaSet: tables.replicaSets,
  StatefulSet: tables.statefulSets,
};

/**
 * Keeps the status of disruption budgets, which evictions are decided by. Controllers other than the built-in ones are
 * unknown to it.
 */
export const budgetStatus: Behaviour = (world) => {
  const pods = new PodsByLabel(world.store);
  const budgets = new ObjectIndex(({ metadata }) => [metadata.namespace ?? ""]);
  const work = new Work(world.clock, (key) => sync(world, pods, key));
  const scalable = new Set(Object.values(SCALABLE));
  const stop = world.store.listen((table, change) => {
    const { type, object, previous } = change;
    const { namespace = "" } = object.metadata;
    if (table.name === tables.budgets) {
      budgets.note(change);
      if (type !== "DELETED") work.add(keyOf(object));
    } else if (table.name === tables.pods) {
      pods.note(change);
      for (const key of budgets.get(namespace)) if (guards(world, key, object, previous)) work.add(key);
    } else if (scalable.has(table.name) && specOf(object)["replicas"] !== fieldsOr(previous?.["spec"])["replicas"]) {
      for (const key of budgets.get(namespace)) work.add(key);
    }
  });
  return () => {
    stop();
    work.stop();
  };
};

function selectorOf(budget: StoredObject): LabelSelector | undefined {
  return specOf(budget)["selector"] as LabelSelector | undefined;
}

function guards({ store }: World, key: string, ...pods: readonly (StoredObject | undefined)[]): boolean {
  const budget = store.table(tables.budgets).get(key);
  const selector = budget === undefined ? undefined : selectorOf(budget);
  return (
    selector !== undefined &&
    pods.some((pod) => pod !== undefined && matchesSelector(selector, pod.metadata.labels ?? {}))
  );
}

function sync(world: World, index: PodsByLabel, key: string): void {
  const budget = world.store.table(tables.budgets).get(key);
  if (budget === undefined) return;
  const { namespace = "", generation } = budget.metadata;
  const selector = selectorOf(budget);
  const pods = (selector === undefined ? [] : index.matching(namespace, selector)).filter((pod) => !isOver(pod));
  const expected = expectedPods(world, budget, pods);
  const before = statusOf(budget);
  const disrupted = fieldsOr(before["disruptedPods"]);
  // An eviction counts until its pod is seen to go.
  const evicted = pods.filter((pod) => !isGoing(pod) && disrupted[pod.metadata.name] !== undefined);
  const healthy = pods.filter((pod) => isReady(pod) && !isGoing(pod) && !evicted.includes(pod)).length;
  const desired = expected === undefined ? undefined : desiredHealthy(specOf(budget), expected);
  const counts =
    expected === undefined || desired === undefined
      ? { disruptionsAllowed: 0 }
      : {
          ...{ expectedPods: expected, currentHealthy: healthy, desiredHealthy: desired },
          disruptionsAllowed: expected > 0 ? Math.max(0, healthy - desired) : 0,
        };
  const known = expected !== undefined && desired !== undefined;
  const condition = conditionFor(known, counts.disruptionsAllowed);
  putStatus(world, tables.budgets, budget, {
    ...{ ...omit(before, "disruptedPods"), ...counts, observedGeneration: generation },
    ...(evicted.length === 0 ? {} : { disruptedPods: kept(disrupted, evicted) }),
    conditions: withConditions(budget, [condition], world.clock.now()),
  });
}

function kept(disrupted: Fields, pods: readonly StoredObject[]): Fields {
  return Object.fromEntries(pods.map(({ metadata: { name } }) => [name, disrupted[name]]));
}

function conditionFor(known: boolean, allowed: number): Condition {
  const type = "DisruptionAllowed";
  if (known) {
    return allowed > 0
      ? { type, status: "True", reason: "SufficientPods", message: "" }
      : { type, status: "False", reason: "InsufficientPods", message: "" };
  }
  const message = "a pod has no controller of known size: give minAvailable as a number";
  return { type, status: "False", reason: "SyncFailed", message };
}

/**
 * How many pods there are to be: those that are, where the budget names a number of them, and the sizes of their
 * controllers where it names a share or what may be missing. Undefined if a pod has no controller of known size.
 */
function expectedPods(world: World, budget: StoredObject, pods: readonly StoredObject[]): number | undefined {
  if (typeof specOf(budget)["minAvailable"] === "number") return pods.length;
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    const controller = scalableOf(world, pod);
    if (controller === undefined) return undefined;
    sizes.set(controller.metadata.uid, numberOr(specOf(controller)["replicas"], 1));
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** The outermost controller that has a size: the Deployment of the pod's ReplicaSet. */
function scalableOf(world: World, object: StoredObject): StoredObject | undefined {
  const owner = controllerOf(object);
  const table = SCALABLE[textOr(owner?.kind)];
  if (owner === undefined || table === undefined) return undefined;
  const found = world.store.table(table).get(objectKey(object.metadata.namespace, owner.name));
  if (found?.metadata.uid !== owner.uid) return undefined;
  return scalableOf(world, found) ?? found;
}

function desiredHealthy({ minAvailable, maxUnavailable }: Fields, expected: number): number | undefined {
  if (maxUnavailable !== undefined) {
    const missing = countOf(maxUnavailable, expected, "up");
    return missing === undefined ? undefined : Math.max(0, expected - missing);
  }
  return minAvailable === undefined ? undefined : countOf(minAvailable, expected, "up");
}
