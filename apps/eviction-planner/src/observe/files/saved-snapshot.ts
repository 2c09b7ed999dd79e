import type { PlanSnapshot } from "../../decide/snapshot.ts";
import { BadFile } from "../../errors.ts";
import type { FoundObject } from "./json-objects.ts";

export const PLAN_SNAPSHOT = "PlanSnapshot";
const API_VERSION = "evenkeel.io/v1";

/** A file that `--save` wrote. */
export interface SavedSnapshot {
  readonly version: string;
  readonly snapshot: PlanSnapshot;
}

/** The text of a file with a snapshot. `version` is that of the program that writes it. */
export function snapshotText(snapshot: PlanSnapshot, version: string): string {
  const file = { apiVersion: API_VERSION, kind: PLAN_SNAPSHOT, version, snapshot };
  return `${JSON.stringify(file, (_key, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value))}\n`;
}

export function savedSnapshot({ object, file, byte }: FoundObject): SavedSnapshot {
  const { apiVersion, version, snapshot } = object as { apiVersion?: unknown } & Partial<SavedSnapshot>;
  const refuse = (fault: string): never => {
    throw new BadFile({ file, byte, fault });
  };
  if (apiVersion !== API_VERSION) return refuse(`apiVersion is not ${API_VERSION}`);
  if (typeof version !== "string") return refuse("version is missing");
  const pods = snapshot?.cluster.pods;
  if (snapshot === undefined || pods === undefined) return refuse("snapshot.cluster.pods is missing");
  const lengths = Object.entries(pods).filter(([name]) => name !== "workloadKinds");
  const [uneven] = lengths.find(([, column]) => (column as readonly unknown[]).length !== pods.uid.length) ?? [];
  if (uneven !== undefined) return refuse(`snapshot.cluster.pods.${uneven} has not one value for each pod`);
  return { version, snapshot };
}
