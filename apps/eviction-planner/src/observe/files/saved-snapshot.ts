import { parseRebalancePolicy, REBALANCE_POLICY } from "@evenkeel/api";
import { type ClusterSnapshot, NONE, type PlanSnapshot, type PodColumns } from "../../decide/snapshot.ts";
import { BadFile } from "../../errors.ts";
import type { FoundObject } from "./json-objects.ts";

export const PLAN_SNAPSHOT = "PlanSnapshot";
const API_VERSION = "evenkeel.io/v1";

/** A file that `--save` wrote. */
export interface SavedSnapshot {
  /** Of the program that wrote it. */
  readonly version: string;
  readonly snapshot: PlanSnapshot;
}

/** The text of a file with a snapshot. `version` is that of the program that writes it. */
export function snapshotText(snapshot: PlanSnapshot, version: string): string {
  const file = { apiVersion: API_VERSION, kind: PLAN_SNAPSHOT, version, snapshot };
  const plain = (_key: string, value: unknown): unknown =>
    ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
  return `${JSON.stringify(file, plain)}\n`;
}

/** Reads such a file. What a plan would trip over is a BadFile that names the field. */
export function savedSnapshot({ object, file, byte }: FoundObject): SavedSnapshot {
  const { apiVersion, version, snapshot } = object as { apiVersion?: unknown } & Partial<SavedSnapshot>;
  const fault = apiVersion === API_VERSION ? snapshotFault(snapshot) : `apiVersion is not ${API_VERSION}`;
  if (fault !== undefined || snapshot === undefined || version === undefined)
    throw new BadFile({ file, byte, fault: fault ?? "version is missing" });
  const { policy } = snapshot;
  const { group, version: policyVersion, kind } = REBALANCE_POLICY;
  // Fields that are newer than the file get their defaults.
  const parsed = parseRebalancePolicy({
    ...{ apiVersion: `${group}/${policyVersion}`, kind, metadata: { name: policy.name }, spec: policy.spec },
  });
  if (!parsed.ok) throw new BadFile({ file, byte, fault: `snapshot.policy: ${parsed.errors.join("; ")}` });
  return { version, snapshot: { ...snapshot, policy: { name: policy.name, spec: parsed.value.spec } } };
}

const LISTS = ["nodes", "shapes", "owners", "disruptionBudgets", "slos", "nodeClasses"] as const;

/** Columns of pods that name a row of another table. */
const INDEXES = {
  shape: "shapes",
  node: "nodes",
  owner: "owners",
} as const satisfies Partial<Record<keyof PodColumns, keyof ClusterSnapshot>>;

function snapshotFault(snapshot: Partial<PlanSnapshot> | undefined): string | undefined {
  const { at, budget, emptyDirLimit, policy, cluster } = snapshot ?? {};
  if (typeof at !== "number" || typeof budget !== "number" || typeof emptyDirLimit !== "number")
    return "snapshot.at, snapshot.budget or snapshot.emptyDirLimit is not a number";
  if (typeof policy?.name !== "string") return "snapshot.policy.name is missing";
  if (typeof cluster?.namespaces !== "object") return "snapshot.cluster.namespaces is missing";
  const absent = LISTS.find((list) => !Array.isArray(cluster[list]));
  if (absent !== undefined) return `snapshot.cluster.${absent} is not a list`;
  return podsFault(cluster);
}

function podsFault(cluster: ClusterSnapshot): string | undefined {
  const columns = cluster.pods as Partial<PodColumns> | undefined;
  if (!Array.isArray(columns?.uid)) return "snapshot.cluster.pods.uid is not a list";
  const pods = columns as PodColumns;
  const uneven = Object.entries(pods).find(
    ([name, column]) => name !== "workloadKinds" && (column as readonly unknown[]).length !== pods.uid.length,
  );
  if (uneven !== undefined) return `snapshot.cluster.pods.${uneven[0]} does not have one value for each pod`;
  for (const [column, table] of Object.entries(INDEXES) as [keyof typeof INDEXES, "shapes" | "nodes" | "owners"][]) {
    const rows = cluster[table].length;
    const isRow = (index: number): boolean => Number.isInteger(index) && index >= NONE && index < rows;
    if (!Array.from(pods[column]).every(isRow)) return `snapshot.cluster.pods.${column} names a row that is not there`;
  }
  return undefined;
}
