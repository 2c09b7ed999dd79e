import { at, fieldsAt, type Json, listAt, numberAt, textAt, writeJson } from "../bodies/json-text.ts";
import { REPLICAS, VERSION } from "../bodies/patch-body.ts";
import { TOTAL } from "../reads/merged-object.ts";
import { withoutQuery } from "./api-path.ts";
import { type Call, isDone, type MemberCalls, type Reply } from "./member-calls.ts";
import { type Step, withQuery } from "./transaction.ts";

/**
 * The field manager that owns `spec.replicas` where an apply leaves it out. Without another owner, the server would
 * reset the replicas of every member to 1 as soon as the manager that applied them before leaves them out.
 */
const REPLICAS_MANAGER = "endpoint-proxy";

const APPLY = "application/apply-patch+yaml";
const OWNED: readonly string[] = [".spec.replicas", `.metadata.annotations.${TOTAL}`];

/** Whether this manager alone applied `spec.replicas`: they are reset to 1 if it leaves them out. */
export function ownsReplicasAlone(object: Json | undefined, manager: string): boolean {
  const owners = listAt(object, ["metadata", "managedFields"]).filter(
    (entry) => at(entry, ["fieldsV1", "f:spec", "f:replicas"]) !== undefined,
  );
  const isManager = (entry: Json): boolean =>
    textAt(entry, ["manager"]) === manager &&
    textAt(entry, ["operation"]) === "Apply" &&
    (textAt(entry, ["subresource"]) ?? "") === "";
  return owners.length > 0 && owners.every(isManager);
}

/** Whether an apply is refused only because the replicas are those of `REPLICAS_MANAGER`, which gives way. */
export function isOwnConflict({ status, json }: Reply): boolean {
  const causes = listAt(json, ["details", "causes"]);
  const isOurs = (cause: Json): boolean =>
    textAt(cause, ["reason"]) === "FieldManagerConflict" &&
    OWNED.includes(textAt(cause, ["field"]) ?? "") &&
    (textAt(cause, ["message"]) ?? "").startsWith(`conflict with "${REPLICAS_MANAGER}"`);
  return status === 409 && causes.length > 0 && causes.every(isOurs);
}

/** The step takes the fields from `REPLICAS_MANAGER`. Its version keeps it from taking any from somebody new. */
export function forced(step: Step): Step {
  return { ...step, call: { ...step.call, path: withQuery(step.call.path, "force", "true") } };
}

/**
 * After an apply that leaves the replicas out was written with those that the member has: `REPLICAS_MANAGER` applies
 * them, and the client's manager applies again without. If a call fails, the client's manager stays the owner, which
 * harms nobody; the next apply repeats this.
 */
export async function takeOver(
  calls: MemberCalls,
  step: Step,
  reply: Reply,
  bodyAt: (version: string) => Pick<Call, "body" | "contentType">,
): Promise<Reply> {
  const { json } = reply;
  const replicas = numberAt(json, REPLICAS);
  if (replicas === undefined) return reply;
  const total = fieldsAt(json, ["metadata", "annotations"])[TOTAL];
  const owned: Json = {
    ...{ apiVersion: at(json, ["apiVersion"]), kind: at(json, ["kind"]) },
    metadata: {
      ...{ name: at(json, ["metadata", "name"]), resourceVersion: at(json, VERSION) },
      ...(total === undefined ? {} : { annotations: { [TOTAL]: total } }),
    },
    spec: { replicas },
  };
  const [path] = withoutQuery(step.call.path);
  const taken = await calls.call(step.member, {
    ...{ method: "PATCH", path: withQuery(path, "fieldManager", REPLICAS_MANAGER), contentType: APPLY },
    body: Buffer.from(writeJson(owned)),
  });
  if (!isDone(taken)) return reply;
  const left = await calls.call(step.member, { ...step.call, ...bodyAt(textAt(taken.json, VERSION) ?? "") });
  return isDone(left) ? { ...reply, json: left.json } : { ...reply, json: taken.json };
}
