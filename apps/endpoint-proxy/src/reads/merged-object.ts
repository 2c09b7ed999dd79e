import {
  at,
  fieldsAt,
  isFields,
  type Json,
  listAt,
  numberAt,
  type Path,
  textAt,
  withValue,
} from "../bodies/json-text.ts";
import { encodeVersions, type VersionLayout } from "./version-vector.ts";

/** An object in one member. */
export interface Held {
  readonly member: string;
  readonly object: Json;
}

/** On merged objects: each member's replicas, asked for and ready. Never stored. */
export const PLACEMENT = "evenkeel.io/placement";
/** On copies of workloads: the replicas that were asked for in all clusters. */
export const TOTAL = "evenkeel.io/replicas";
export const DIVIDE_ALL = "all";

const SPEC_REPLICAS: Path = ["spec", "replicas"];

/** Counts of a status that are added up. */
const COUNTS: readonly string[] = [
  "replicas",
  "readyReplicas",
  "updatedReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "currentReplicas",
  "terminatingReplicas",
];

/**
 * The same-named Deployments or StatefulSets (or their Scales) of several members as one object: replicas and counts
 * are added up, conditions are combined, all else is the own cluster's. With `divide: all`, replicas are the greatest
 * number and counts the least of clusters that are to have some. `held` has the own cluster's first.
 */
export function mergedWorkload(held: readonly Held[], layout: VersionLayout | undefined): Json {
  const [own] = held;
  if (own === undefined) return {};
  const objects = held.map(({ object }) => object);
  const isWhole = textAt(own.object, ["metadata", "annotations", "evenkeel.io/divide"]) === DIVIDE_ALL;
  let merged = withPlacement(held, layout);
  // A Scale leaves out 0, a workload of no replicas does not.
  const isScale = textAt(own.object, ["kind"]) === "Scale";
  const parts = objects.map((object) => numberAt(object, SPEC_REPLICAS) ?? (isScale ? 0 : 1));
  if (isScale || at(own.object, SPEC_REPLICAS) !== undefined) {
    merged = withValue(merged, SPEC_REPLICAS, isWhole ? Math.max(...parts) : sum(parts));
  }
  // With `divide: all`, a cluster that is not to have any does not make the workload unready.
  const running = objects.filter((_object, index) => (parts[index] ?? 0) > 0);
  const counted = isWhole && running.length > 0 ? running : objects;
  const join = isWhole ? (numbers: readonly number[]) => Math.min(...numbers) : sum;
  for (const name of COUNTS) {
    const counts = counted.map((object) => numberAt(object, ["status", name]));
    if (counts.every((count) => count === undefined)) continue;
    merged = withValue(merged, ["status", name], join(counts.map((count) => count ?? 0)));
  }
  const conditions = combinedConditions(held);
  if (conditions.length > 0) merged = withValue(merged, ["status", "conditions"], conditions);
  return withObserved(merged, own.object, objects);
}

/** A Service, Namespace, PersistentVolume or claim: the own cluster's, with the members that hold it. */
export function mergedCopy(held: readonly Held[], layout: VersionLayout | undefined): Json {
  return withPlacement(held, layout);
}

function withPlacement(held: readonly Held[], layout: VersionLayout | undefined): Json {
  const own = held[0]?.object ?? {};
  const placement = Object.fromEntries(
    held.map(({ member, object }) => {
      const replicas = numberAt(object, SPEC_REPLICAS);
      const ready = numberAt(object, ["status", "readyReplicas"]) ?? numberAt(object, ["status", "replicas"]) ?? 0;
      return [member, replicas === undefined ? {} : { replicas, ready }];
    }),
  );
  const annotated = withValue(own, ["metadata", "annotations", PLACEMENT], JSON.stringify(placement));
  return withVersion(annotated, held, layout);
}

/** The version of the whole. */
function withVersion(merged: Json, held: readonly Held[], layout: VersionLayout | undefined): Json {
  if (layout === undefined || at(merged, ["metadata", "resourceVersion"]) === undefined) return merged;
  const versions = new Map(
    held.map(({ member, object }) => [member, textAt(object, ["metadata", "resourceVersion"]) ?? "0"]),
  );
  return withValue(merged, ["metadata", "resourceVersion"], encodeVersions(layout, versions));
}

/** `observedGeneration` is behind until every member has observed its own, so that `rollout status` waits for all. */
function withObserved(merged: Json, own: Json, objects: readonly Json[]): Json {
  const observed = numberAt(own, ["status", "observedGeneration"]);
  const generation = numberAt(own, ["metadata", "generation"]);
  if (observed === undefined || generation === undefined) return merged;
  const allHave = objects.every(
    (object) =>
      (numberAt(object, ["status", "observedGeneration"]) ?? 0) >= (numberAt(object, ["metadata", "generation"]) ?? 0),
  );
  return withValue(merged, ["status", "observedGeneration"], allHave ? observed : Math.min(observed, generation - 1));
}

/**
 * False if any is False, True if all are True, else Unknown. Reason and message are those of the first that decides.
 */
function combinedConditions(held: readonly Held[]): readonly Json[] {
  const all = held.flatMap(({ member, object }) =>
    listAt(object, ["status", "conditions"])
      .filter(isFields)
      .map((condition) => ({ member, condition })),
  );
  const types = [...new Set(all.map(({ condition }) => textAt(condition, ["type"]) ?? ""))];
  return types.map((type) => {
    const ofType = all.filter(({ condition }) => textAt(condition, ["type"]) === type);
    const statusOf = (one: (typeof ofType)[number]): string => textAt(one.condition, ["status"]) ?? "Unknown";
    const status = ofType.some((one) => statusOf(one) === "False")
      ? "False"
      : ofType.every((one) => statusOf(one) === "True")
        ? "True"
        : "Unknown";
    const deciding = ofType.find((one) => statusOf(one) === status) ?? ofType[0];
    if (deciding === undefined) return {};
    const { member, condition } = deciding;
    const message = textAt(condition, ["message"]) ?? "";
    const isOwn = member === held[0]?.member;
    return withValue(withValue(condition, ["status"], status), ["message"], isOwn ? message : `${member}: ${message}`);
  });
}

/** Replicas of a part; a workload without any has 1. */
export function replicasOf(object: Json | undefined): number {
  return object === undefined ? 0 : (numberAt(object, SPEC_REPLICAS) ?? 1);
}

export function annotationsOf(object: Json | undefined): Record<string, string> {
  const entries = Object.entries(fieldsAt(object, ["metadata", "annotations"]));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
