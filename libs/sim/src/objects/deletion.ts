import { fieldsOr, listOr, omit, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { timestamp } from "./identity.ts";
import type { Preconditions } from "./preconditions.ts";

export interface DeleteOptions {
  readonly preconditions?: Preconditions;
  readonly propagationPolicy?: string;
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** The object as a delete leaves it: marked, with the finalizers that the policy asks for. The first mark stays. */
export function marked(object: StoredObject, options: DeleteOptions, now: number): StoredObject {
  const { metadata } = object;
  const finalizers = finalizersAfter(metadata.finalizers ?? [], options.propagationPolicy);
  const grace = graceOf(object, options.gracePeriodSeconds);
  const mark =
    metadata.deletionTimestamp === undefined || grace < (metadata.deletionGracePeriodSeconds ?? 0)
      ? { deletionTimestamp: timestamp(now + grace * 1000), deletionGracePeriodSeconds: grace }
      : {};
  const counted =
    metadata.generation !== undefined && metadata.deletionTimestamp === undefined
      ? { generation: metadata.generation + 1 }
      : {};
  const next = {
    ...omit({ ...metadata }, "finalizers"),
    ...(finalizers.length === 0 ? {} : { finalizers }),
    ...mark,
    ...counted,
  };
  const terminating =
    object.kind === "Namespace" ? { status: { ...fieldsOr(object["status"]), phase: "Terminating" } } : {};
  return { ...object, ...terminating, metadata: next as unknown as StoredObject["metadata"] };
}

/** Whether nothing keeps a marked object any longer. */
export function isFinished({ metadata, ...object }: StoredObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  const content = object.kind === "Namespace" && listOr(fieldsOr(object["spec"])["finalizers"]).length > 0;
  return !content && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

function finalizersAfter(finalizers: readonly string[], policy: string | undefined): readonly string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((one) => one !== FOREGROUND && one !== ORPHAN);
  if (policy === "Foreground") return [...others, FOREGROUND];
  return policy === "Orphan" ? [...others, ORPHAN] : others;
}

/** Seconds that an object is left to end: only a pod that a node may be running has any. */
function graceOf({ kind, apiVersion, metadata, ...object }: StoredObject, asked: number | undefined): number {
  const { nodeName, terminationGracePeriodSeconds: own } = fieldsOr(object["spec"]);
  const phase = textOr(fieldsOr(object["status"])["phase"]);
  if (kind !== "Pod" || apiVersion !== "v1" || textOr(nodeName) === "" || ["Succeeded", "Failed"].includes(phase))
    return 0;
  return Math.max(0, asked ?? metadata.deletionGracePeriodSeconds ?? (typeof own === "number" ? own : 30));
}
