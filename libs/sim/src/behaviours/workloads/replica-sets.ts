import { fieldsOr, textOr } from "../../json.ts";
import { keyOf, type StoredObject } from "../../object.ts";
import type { World } from "../behaviour.ts";
import type { ObjectIndex } from "../object-index.ts";
import {
  isGoing,
  isOver,
  isReady,
  nonZero,
  numberOr,
  placeOf,
  putStatus,
  specOf,
  statusOf,
  tables,
  typeOf,
  untilAvailable,
} from "../object-state.ts";
import { ownerBehaviour } from "../owner-behaviour.ts";
import type { Work } from "../work.ts";
import { podFrom } from "./pod-template.ts";

/** Pods that are created or deleted in one slice of work. */
const BATCH = 10;

/**
 * Keeps as many pods as each ReplicaSet asks for, and counts them in its status. It adopts no pods that others made.
 */
export const replicaSets = ownerBehaviour({ owners: tables.replicaSets, owned: tables.pods, kind: "ReplicaSet", sync });

function sync(world: World, pods: ObjectIndex, work: Work, key: string): void {
  const { store, objects, types } = world;
  const replicaSet = store.table(tables.replicaSets).get(key);
  if (replicaSet === undefined) return;
  const type = typeOf(types, tables.pods);
  const owned = (): StoredObject[] =>
    [...pods.get(replicaSet.metadata.uid)]
      .map((pod) => store.table(tables.pods).get(pod))
      .filter((pod) => pod !== undefined && !isGoing(pod) && !isOver(pod)) as StoredObject[];
  const missing = isGoing(replicaSet) ? 0 : numberOr(specOf(replicaSet)["replicas"], 1) - owned().length;
  if (Math.abs(missing) > BATCH) work.add(key);
  const { namespace, name } = replicaSet.metadata;
  try {
    for (let made = 0; made < Math.min(missing, BATCH); made++) {
      const pod = podFrom(replicaSet, { generateName: `${name}-` });
      objects.create(type, namespace, pod, { manager: "kube-controller-manager" });
    }
    for (const pod of victims(owned(), Math.min(-missing, BATCH))) objects.delete(type, placeOf(pod));
  } finally {
    count(world, work, replicaSet, owned());
  }
}

function count(world: World, work: Work, replicaSet: StoredObject, pods: readonly StoredObject[]): void {
  const spec = specOf(replicaSet);
  const waits = pods.map((pod) => untilAvailable(pod, numberOr(spec["minReadySeconds"], 0), world.clock.now()));
  const next = Math.min(...waits.filter((wait) => wait > 0));
  if (Number.isFinite(next)) work.addAfter(next, keyOf(replicaSet));
  const labels = Object.entries(fieldsOr(fieldsOr(fieldsOr(spec["template"])["metadata"])["labels"]));
  const fullyLabeled = pods.filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
  putStatus(world, tables.replicaSets, replicaSet, {
    replicas: pods.length,
    ...nonZero({
      fullyLabeledReplicas: fullyLabeled.length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: waits.filter((wait) => wait === 0).length,
    }),
    observedGeneration: replicaSet.metadata.generation,
  });
}

/**
 * The pods that go first when there are too many: those without a node, not running, not ready, and then the newest.
 */
function victims(pods: readonly StoredObject[], count: number): StoredObject[] {
  if (count <= 0) return [];
  const rank = (pod: StoredObject): readonly number[] => [
    Number(textOr(specOf(pod)["nodeName"]) !== ""),
    Number(statusOf(pod)["phase"] === "Running"),
    Number(isReady(pod)),
    -Date.parse(pod.metadata.creationTimestamp),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod), name: pod.metadata.name }));
  ranked.sort((one, other) => {
    const at = one.rank.findIndex((value, index) => value !== other.rank[index]);
    if (at >= 0) return (one.rank[at] ?? 0) - (other.rank[at] ?? 0);
    return one.name < other.name ? 1 : -1;
  });
  return ranked.slice(0, count).map(({ pod }) => pod);
}
