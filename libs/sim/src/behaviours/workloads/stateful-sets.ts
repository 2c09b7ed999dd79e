import { type Fields, fieldsOr, textOr } from "../../json.ts";
import { keyOf, objectKey, type StoredObject } from "../../object.ts";
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
import { podFrom, templateHash } from "./pod-template.ts";

const REVISION = "controller-revision-hash";

/**
 * Keeps the numbered pods of each StatefulSet: in order unless it says Parallel, and rolls to a new template from the
 * highest number down. Volume claims are not made, and a pod below the partition that comes again has the new template.
 */
export const statefulSets = ownerBehaviour({
  owners: tables.statefulSets,
  owned: tables.pods,
  kind: "StatefulSet",
  sync,
});

function sync(world: World, index: ObjectIndex, work: Work, key: string): void {
  const { store, types, objects } = world;
  const set = store.table(tables.statefulSets).get(key);
  if (set === undefined) return;
  const owned = (): StoredObject[] =>
    [...index.get(set.metadata.uid)]
      .map((pod) => store.table(tables.pods).get(pod))
      .filter((pod) => pod !== undefined)
      .toSorted((one, other) => ordinalOf(one) - ordinalOf(other));
  const type = typeOf(types, tables.pods);
  try {
    if (!isGoing(set)) {
      for (const ordinal of missing(set, owned())) create(world, set, ordinal);
      for (const pod of leaving(set, owned())) objects.delete(type, placeOf(pod));
    }
  } finally {
    count(world, work, set, owned());
  }
}

function ordinalOf({ metadata: { name } }: StoredObject): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? -1);
}

function replicasOf(set: StoredObject): number {
  return numberOr(specOf(set)["replicas"], 1);
}

function isParallel(set: StoredObject): boolean {
  return specOf(set)["podManagementPolicy"] === "Parallel";
}

function isHealthy(pod: StoredObject): boolean {
  return isReady(pod) && !isGoing(pod);
}

/** The numbers that get a pod now: the first that has none if all before it are healthy, or all of them at once. */
function missing(set: StoredObject, pods: readonly StoredObject[]): number[] {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const numbers = Array.from({ length: replicasOf(set) }, (_, ordinal) => ordinal);
  if (isParallel(set)) return numbers.filter((ordinal) => !byOrdinal.has(ordinal));
  const next = numbers.find((ordinal) => {
    const pod = byOrdinal.get(ordinal);
    return pod === undefined || !isHealthy(pod);
  });
  return next === undefined || byOrdinal.has(next) ? [] : [next];
}

/**
 * The pods that go now: what has ended, what is too much, what has an old template; the highest first and one at a
 * time, in order.
 */
function leaving(set: StoredObject, pods: readonly StoredObject[]): StoredObject[] {
  const staying = pods.filter((pod) => ordinalOf(pod) < replicasOf(set));
  const ended = staying.filter((pod) => isOver(pod) && !isGoing(pod));
  if (ended.length > 0) return ended;
  const condemned = pods.filter((pod) => ordinalOf(pod) >= replicasOf(set)).toReversed();
  if (isParallel(set) && condemned.length > 0) return condemned.filter((pod) => !isGoing(pod));
  if (pods.some(isGoing)) return [];
  if (condemned.length > 0) return condemned.slice(0, 1);
  return outdated(set, staying);
}

function outdated(set: StoredObject, pods: readonly StoredObject[]): StoredObject[] {
  const strategy = fieldsOr(specOf(set)["updateStrategy"]);
  if (strategy["type"] === "OnDelete" || pods.length < replicasOf(set)) return [];
  const partition = numberOr(fieldsOr(strategy["rollingUpdate"])["partition"], 0);
  const revision = revisionOf(set);
  const old = pods.filter((pod) => ordinalOf(pod) >= partition && pod.metadata.labels?.[REVISION] !== revision);
  const next = old.at(-1);
  // An old pod that is broken is replaced although it is not healthy; a new one is waited for.
  const waitedFor = pods.some((pod) => !isHealthy(pod) && pod !== next && ordinalOf(pod) >= ordinalOf(next ?? pod));
  return next === undefined || waitedFor ? [] : [next];
}

function revisionOf(set: StoredObject): string {
  return `${set.metadata.name}-${templateHash(specOf(set)["template"])}`;
}

function create({ objects, types, store }: World, set: StoredObject, ordinal: number): void {
  const name = `${set.metadata.name}-${ordinal}`;
  const { namespace } = set.metadata;
  // A pod of the same name that another owns stands in the way until it is gone.
  if (store.table(tables.pods).get(objectKey(namespace, name)) !== undefined) return;
  const labels = {
    ...{ "statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": String(ordinal) },
    [REVISION]: revisionOf(set),
  };
  const subdomain = textOr(specOf(set)["serviceName"]);
  const spec = { hostname: name, ...(subdomain === "" ? {} : { subdomain }) };
  const pod = podFrom(set, { name, labels }, spec);
  objects.create(typeOf(types, tables.pods), namespace, pod, { manager: "kube-controller-manager" });
}

function count(world: World, work: Work, set: StoredObject, all: readonly StoredObject[]): void {
  const pods = all.filter((pod) => !isOver(pod));
  const alive = pods.filter((pod) => !isGoing(pod));
  const waits = alive.map((pod) => untilAvailable(pod, numberOr(specOf(set)["minReadySeconds"], 0), world.clock.now()));
  const next = Math.min(...waits.filter((wait) => wait > 0));
  if (Number.isFinite(next)) work.addAfter(next, keyOf(set));
  const updateRevision = revisionOf(set);
  const having = (revision: string): number =>
    alive.filter(({ metadata }) => metadata.labels?.[REVISION] === revision).length;
  const before = textOr(statusOf(set)["currentRevision"], updateRevision);
  const rolled = having(updateRevision) === replicasOf(set) && alive.every(isReady);
  const currentRevision = rolled ? updateRevision : before;
  const status: Fields = {
    observedGeneration: set.metadata.generation,
    ...{ replicas: pods.length, availableReplicas: waits.filter((wait) => wait === 0).length },
    ...nonZero({
      readyReplicas: alive.filter(isReady).length,
      currentReplicas: having(currentRevision),
      updatedReplicas: having(updateRevision),
    }),
    ...{ currentRevision, updateRevision, collisionCount: 0 },
  };
  putStatus(world, tables.statefulSets, set, status);
}
