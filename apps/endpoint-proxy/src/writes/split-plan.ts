import { type Json, textAt } from "../bodies/json-text.ts";
import type { SplitSnapshot } from "../decide/split-snapshot.ts";
import type { Member } from "../members/member.ts";
import { type Held, replicasOf } from "../reads/merged-object.ts";
import { mergedObject } from "../reads/named-read.ts";
import { decodeVersions } from "../reads/version-vector.ts";
import { scaleView } from "./change.ts";
import { invalid } from "./kube-status.ts";
import type { ManyWrite } from "./member-steps.ts";
import type { AnswersOptions } from "./options.ts";
import { isSamePolicy, policyIn, splitSnapshot } from "./split-facts.ts";
import { isDivided } from "./verb-table.ts";

/** The most that spec.replicas can hold. */
const MOST_REPLICAS = 2 ** 31 - 1;

/** A write, and what the members have before it. */
export interface WriteFacts {
  readonly write: Pick<ManyWrite, "path" | "kind" | "change" | "dryRun">;
  readonly held: ReadonlyMap<string, Json>;
  /** Members that the write goes on without, and why. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/**
 * What the replicas of a write are divided by; undefined if it leaves them where they are. Throws 422 for a policy or
 * a number of replicas that cannot be used, and PatchMismatch for a patch that does not fit what the members have.
 */
export function splitPlan(options: AnswersOptions, facts: WriteFacts): SplitSnapshot | undefined {
  const { write, held, leftOut } = facts;
  const { kind, change, path, dryRun } = write;
  const isScale = path.subresource === "scale";
  const members = options.members.all().filter(({ name }) => !leftOut.has(name));
  const merged = held.size === 0 ? undefined : mergedObject(inOrder(members, held), kind, options.layouts.layout());
  const before = isScale ? scaleView(merged) : merged;
  // An operation that does not fit the merged object is refused for every kind.
  const changed = change.after(before);
  if (!isDivided(kind)) return undefined;
  const after = isScale ? merged : changed;
  const name = textAt(change.view, ["metadata", "name"]) ?? path.name ?? "";
  policyIn(kind, name, after);
  const anew = merged !== undefined && !isSamePolicy(merged, after);
  const asked = change.replicasAfter(before);
  const current = merged === undefined ? 1 : anew ? replicasOf(merged) : undefined;
  const total = isOwnPart(options, facts, asked) ? replicasOf(merged) : (asked ?? current);
  if (total === undefined) return undefined;
  if (!Number.isInteger(total) || total < 0 || total > MOST_REPLICAS) {
    throw invalid(`${kind} "${name}" is invalid: spec.replicas: must be a whole number that is not negative`);
  }
  return splitSnapshot(options, {
    ...{ kind, namespace: path.namespace ?? "", name, total, held, leftOut, dryRun, anew },
    views: [after, merged],
  });
}

/**
 * Whether a PUT brings back what a watch of the own cluster shows: its version and its part. Such a client means to
 * leave the replicas alone.
 */
function isOwnPart(
  { layouts, members }: AnswersOptions,
  { write, held }: WriteFacts,
  asked: number | undefined,
): boolean {
  const { method, version = "" } = write.change;
  const layout = layouts.layout();
  const own = held.get(members.own()?.name ?? "");
  const isScale = write.path.subresource === "scale";
  if (method !== "PUT" || isScale || version === "" || layout === undefined) return false;
  return own !== undefined && decodeVersions(version, layout).kind === "own" && asked === replicasOf(own);
}

function inOrder(members: readonly Member[], held: ReadonlyMap<string, Json>): readonly Held[] {
  return members.flatMap(({ name }) => {
    const object = held.get(name);
    return object === undefined ? [] : [{ member: name, object }];
  });
}
