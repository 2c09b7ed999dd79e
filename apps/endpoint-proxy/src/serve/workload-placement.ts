import type { placementsV1 } from "@evenkeel/rpc";
import type { Decision } from "@evenkeel/runtime";
import { type Json, numberAt, textAt } from "../bodies/json-text.ts";
import type { Part } from "../decide/split.ts";
import type { Member } from "../members/member.ts";
import { DIVIDE_ALL, replicasOf } from "../reads/merged-object.ts";

export type PlacementView = placementsV1.DeepPartial<placementsV1.Placement>;

/** A workload in one cluster: null without a copy, undefined if the cluster could not be asked. */
export interface InMember {
  readonly member: Member;
  readonly object: Json | null | undefined;
}

/** Where the replicas of a workload are. `decision` is the last that divided them. */
export function placementOf(
  workload: string,
  members: readonly InMember[],
  decision: Decision | undefined,
): PlacementView {
  const parts = partsIn(decision);
  const held = members.flatMap(({ object }) => (object === null || object === undefined ? [] : [object]));
  const isWhole = held.some(
    (object) => textAt(object, ["metadata", "annotations", "evenkeel.io/divide"]) === DIVIDE_ALL,
  );
  const replicas = held.map(replicasOf);
  const running = held.filter((object) => replicasOf(object) > 0);
  return {
    workload,
    replicas: BigInt(isWhole ? Math.max(0, ...replicas) : sum(replicas)),
    ready: BigInt(isWhole ? least(running.map(readyOf)) : sum(held.map(readyOf))),
    places: members.map(({ member, object }) => {
      const part = parts.find(({ cluster }) => cluster === member.name);
      return {
        ...{ cluster: member.name, standing: member.standing, reason: part?.reason ?? "", note: part?.note ?? "" },
        ...(object !== undefined && { replicas: BigInt(replicasOf(object ?? undefined)) }),
        ...(object !== undefined && { ready: BigInt(readyOf(object)) }),
        ...(part && { decided: BigInt(part.replicas) }),
      };
    }),
  };
}

/** The last decision that was carried out; with the service's own dry run there is none but those. */
export function lastOf(decisions: readonly Decision[]): Decision | undefined {
  return decisions.find(({ dryRun }) => !dryRun) ?? decisions[0];
}

function partsIn(decision: Decision | undefined): readonly Part[] {
  return Array.isArray(decision?.after) ? (decision.after as readonly Part[]) : [];
}

function readyOf(object: Json | null): number {
  return numberAt(object ?? undefined, ["status", "readyReplicas"]) ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function least(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : Math.min(...numbers);
}
