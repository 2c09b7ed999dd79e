import { fieldsAt, isFields, type Json, textAt, withValue, writeJson } from "../bodies/json-text.ts";
import { parsePatch, REPLICAS } from "../bodies/patch-body.ts";
import { parseYaml } from "../bodies/yaml-text.ts";
import { splitDecider, type SplitVerdict } from "../decide/split.ts";
import { replicasOf } from "../reads/merged-object.ts";
import { type Change, patching } from "../writes/change.ts";
import { badRequest } from "../writes/kube-status.ts";
import type { MemberCalls } from "../writes/member-calls.ts";
import type { AnswersOptions } from "../writes/options.ts";
import { readHeld } from "../writes/read-held.ts";
import { splitPlan } from "../writes/split-plan.ts";
import { parseWorkload, pathOfWorkload, type WorkloadName, workloadNamed } from "./workload-name.ts";

/** What a preview assumes. */
export interface Supposed {
  readonly workload: string;
  readonly manifest: string;
  readonly replicas?: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Previewed {
  readonly workload: WorkloadName;
  readonly total: number;
  readonly verdict: SplitVerdict;
}

const ANNOTATIONS = ["metadata", "annotations"];

/**
 * How a write would divide the replicas: a manifest as `kubectl apply` would send it, a name as `kubectl scale` would.
 * Nothing is written and no decision is recorded. Throws KubeFault where the write would be refused.
 */
export async function preview(options: AnswersOptions, calls: MemberCalls, supposed: Supposed): Promise<Previewed> {
  const { workload, change } = supposed.manifest === "" ? byName(supposed) : byManifest(supposed);
  const path = pathOfWorkload(workload);
  const held = await readHeld(calls, options.members.all(), path, change);
  const write = { path, kind: workload.kind, change, dryRun: true };
  const snapshot =
    splitPlan(options, { write, held, leftOut: new Map() }) ??
    // Neither replicas nor policy change: a write of as many replicas as there are.
    splitPlan(options, { write: { ...write, change: unchanged(change) }, held, leftOut: new Map() });
  if (snapshot === undefined) throw badRequest("it has no replicas to divide");
  return { workload, total: snapshot.total, verdict: splitDecider.decide(snapshot) };
}

interface SupposedChange {
  readonly workload: WorkloadName;
  readonly change: Change;
}

function byName({ workload: text, replicas, annotations }: Supposed): SupposedChange {
  const workload = parseWorkload(text);
  if (workload === undefined) {
    throw badRequest("workload is not Deployment/<namespace>/<name> or StatefulSet/<namespace>/<name>");
  }
  const patch = assumed({}, replicas, annotations, null);
  return { workload, change: changeOf("application/merge-patch+json", patch) };
}

function byManifest({ workload: text, manifest, replicas, annotations }: Supposed): SupposedChange {
  if (text !== "") throw badRequest("workload and manifest are given: leave one of them empty");
  const object = parsedManifest(manifest);
  const namespace = textAt(object, ["metadata", "namespace"]) ?? "default";
  const name = textAt(object, ["metadata", "name"]) ?? "";
  const isApps = textAt(object, ["apiVersion"]) === "apps/v1";
  const workload = isApps ? workloadNamed(textAt(object, ["kind"]) ?? "", namespace, name) : undefined;
  if (workload === undefined) throw badRequest("manifest is not a Deployment or StatefulSet of apps/v1 with a name");
  const patch = assumed(object, replicas, annotations, undefined);
  return { workload, change: changeOf("application/apply-patch+yaml", patch) };
}

function parsedManifest(manifest: string): Json {
  try {
    const object = parseYaml(manifest);
    if (isFields(object)) return object;
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`manifest cannot be read: ${error.message}`);
    throw error;
  }
  throw badRequest("manifest is not an object");
}

/** `removed` takes an annotation away: null in a merge patch, and in a manifest that it is not there. */
function assumed(
  object: Json,
  replicas: number | undefined,
  annotations: Supposed["annotations"],
  removed: null | undefined,
): Json {
  const entries = Object.entries(annotations).map(([key, value]) => [key, value === "" ? removed : value] as const);
  const merged = { ...fieldsAt(object, ANNOTATIONS), ...Object.fromEntries(entries) };
  const annotated = entries.length === 0 ? object : withValue(object, ANNOTATIONS, merged);
  return replicas === undefined ? annotated : withValue(annotated, REPLICAS, replicas);
}

function changeOf(contentType: string, patch: Json): Change {
  return patching(parsePatch(contentType, Buffer.from(writeJson(patch))));
}

/** The same change, of as many replicas as there are. */
function unchanged(change: Change): Change {
  return { ...change, replicasAfter: replicasOf };
}
