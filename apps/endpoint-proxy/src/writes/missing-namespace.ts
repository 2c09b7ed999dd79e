import { textAt, writeJson } from "../bodies/json-text.ts";
import { JSON_TYPE } from "../bodies/object-body.ts";
import type { Member } from "../members/member.ts";
import { isDone, type MemberCalls, messageOf, type Reply } from "./member-calls.ts";

/** Whether a member refused a new object because it lacks the namespace. */
export function isMissingNamespace(reply: Reply): boolean {
  if (reply.status !== 404) return false;
  const isNamed = /namespaces? "[^"]*" not found/.test(messageOf(reply));
  return textAt(reply.json, ["details", "kind"]) === "namespaces" || isNamed;
}

export type MadeNamespace =
  /** It exists now. */
  | "made"
  /** It would be made; this is a dry run. */
  | "rehearsed"
  /** The caller may not. */
  | "refused";

/** Makes the namespace of a new object in a member that lacks it, by the caller's own rights. It is not put back. */
export function namespaceMaker(
  calls: MemberCalls,
  labelKey: string,
  dryRun: boolean,
): (member: Member, name: string) => Promise<MadeNamespace> {
  return async (member, name) => {
    const namespace = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { [labelKey]: member.label } },
    };
    const reply = await calls.call(member, {
      ...{
        method: "POST",
        path: `/api/v1/namespaces${dryRun ? "?dryRun=All" : ""}`,
      },
      ...{ contentType: JSON_TYPE, body: Buffer.from(writeJson(namespace)) },
    });
    if (!isDone(reply) && reply.status !== 409) return "refused";
    return dryRun ? "rehearsed" : "made";
  };
}
