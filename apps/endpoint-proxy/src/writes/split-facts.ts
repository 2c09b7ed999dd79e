import { effectiveRequests, type PodSpecJson } from "@evenkeel/placement";
import { at, isFields, type Json, type Path, textAt, writeJson } from "../bodies/json-text.ts";
import { POLICY_ANNOTATIONS, policyOf, type SplitPolicy } from "../decide/split-policy.ts";
import type { SplitMember, SplitScore, SplitSnapshot } from "../decide/split-snapshot.ts";
import type { Member, MemberScore } from "../members/member.ts";
import { annotationsOf, replicasOf } from "../reads/merged-object.ts";
import { invalid } from "./kube-status.ts";
import type { AnswersOptions } from "./options.ts";

export interface Workload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly total: number;
  /** The workload after the change, then before it. The policy is that of the first. */
  readonly views: readonly (Json | undefined)[];
  /** What each member holds, by name. */
  readonly held: ReadonlyMap<string, Json>;
  /** Members that did not answer this request. */
  readonly leftOut: ReadonlyMap<string, string>;
  readonly dryRun: boolean;
  /** The policy is another than before. */
  readonly anew: boolean;
}

/** The policy of a workload. Throws 422 for annotations that cannot be used. */
export function policyIn(kind: string, name: string, object: Json | undefined): SplitPolicy {
  const read = policyOf(annotationsOf(object));
  if ("policy" in read) return read.policy;
  const causes = read.faults.map(({ annotation, value, expected }) => ({
    field: `metadata.annotations[${annotation}]`,
    reason: "FieldValueInvalid",
    message: `Invalid value: ${JSON.stringify(value)}: expected ${expected}`,
  }));
  const faults = causes.map(({ field, message }) => `${field}: ${message}`).join(", ");
  throw invalid(`${kind} "${name}" is invalid: ${faults}`, causes);
}

/** Whether two objects have the same policy, as it is written. */
export function isSamePolicy(one: Json | undefined, other: Json | undefined): boolean {
  const path = (name: string): Path => ["metadata", "annotations", name];
  return POLICY_ANNOTATIONS.every((name) => textAt(one, path(name)) === textAt(other, path(name)));
}

/** Everything that the split depends on. Throws 422 for annotations that cannot be used. */
export function splitSnapshot(options: AnswersOptions, workload: Workload): SplitSnapshot {
  const { kind, namespace, name, total, views, dryRun, anew } = workload;
  return {
    ...{
      at: new Date(options.clock.now()).toISOString(),
      kind,
      namespace,
      name,
      total,
      dryRun,
      anew,
      policy: policyIn(kind, name, views[0]),
    },
    requests: requestsOf(views),
    members: options.members.all().map((member) => splitMember(options, member, workload)),
  };
}

function splitMember({ placedSince, clock }: AnswersOptions, member: Member, { held, leftOut }: Workload): SplitMember {
  const { name, own, standing, score } = member;
  return {
    ...{
      name,
      own,
      standing: leftOut.has(name) ? "Unreachable" : standing,
      held: replicasOf(held.get(name)),
    },
    score: score === undefined ? null : splitScore(score),
    placedSince: placedSince.since(name, clock.now() - (score?.age ?? 0)),
  };
}

function splitScore({ source, score, marginalWatts, free }: MemberScore): SplitScore {
  const room = free === undefined ? null : { cpu: free.cpu, memory: free.memory, pods: free.pods };
  return { source, score, marginalWatts: marginalWatts ?? null, free: room };
}

/** Millicores and bytes of one pod. */
export function requestsOf(views: readonly (Json | undefined)[]): {
  readonly cpu: number;
  readonly memory: number;
} {
  const specs = views.map((view) => at(view, ["spec", "template", "spec"]));
  const spec = specs.find((one) => isFields(one) && at(one, ["containers"]) !== undefined);
  if (spec === undefined) return { cpu: 0, memory: 0 };
  const { cpu = 0, memory = 0 } = effectiveRequests(JSON.parse(writeJson(spec)) as PodSpecJson);
  // The server refuses what is no quantity.
  return {
    cpu: Number.isNaN(cpu) ? 0 : cpu,
    memory: Number.isNaN(memory) ? 0 : memory,
  };
}
