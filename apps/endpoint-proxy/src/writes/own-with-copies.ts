import { type Json, textAt } from "../bodies/json-text.ts";
import type { OwnedRequest } from "../gateway/owner-answers.ts";
import { type ApiPath, pathOf } from "./api-path.ts";
import { COPY_OF, Copies, type Copied, SPREAD } from "./copies.ts";
import { type Answer, KubeFault } from "./kube-status.ts";
import { isDone, type MemberCalls } from "./member-calls.ts";
import { namespaceMaker } from "./missing-namespace.ts";
import type { AnswersOptions } from "./options.ts";
import { isReferenced } from "./references.ts";
import type { Rule } from "./verb-table.ts";

/** Written often, of one cluster by nature, or not stored at all. */
const NEVER_SPREAD: readonly string[] = [
  ...["pods", "events", "leases", "endpoints", "endpointslices", "replicasets", "controllerrevisions", "bindings"],
  ...["clusterscores", "localsubjectaccessreviews"],
];

/** Milliseconds, as for requests that are forwarded as they come: webhooks may take 30 s. */
const OWN_DEADLINE = 65_000;

/** Whether other clusters may have copies of what this request writes to the own cluster. */
export function mayHaveCopies(method: string, path: ApiPath, { kind }: Rule): boolean {
  if (path.namespace === undefined || path.subresource !== undefined || kind !== undefined) return false;
  if (NEVER_SPREAD.includes(path.resource) || !["POST", "PUT", "PATCH", "DELETE"].includes(method)) return false;
  return (method === "POST") === (path.name === undefined);
}

/** A write of the own cluster's: its answer is passed on as it came, and copies in other clusters are renewed. */
export async function writeWithCopies(
  options: AnswersOptions,
  calls: MemberCalls,
  request: OwnedRequest,
  path: ApiPath,
): Promise<Answer> {
  const own = options.members.own();
  if (own === undefined) throw new Error("the own ClusterScore was not found");
  const reply = await calls.within(OWN_DEADLINE).call(own, {
    ...{
      method: request.method as "POST" | "PUT" | "PATCH" | "DELETE",
      path: request.path,
      body: await request.body(),
    },
    ...{ contentType: request.header("content-type"), accept: request.header("accept") },
  });
  if (reply.status === undefined) throw new KubeFault(503, "ServiceUnavailable", "the own cluster does not answer");
  const { status, contentType, body, warnings, retryAfter } = reply;
  const answer = { status, contentType, body, warnings, retryAfter };
  const isRehearsal = options.dryRun || path.query.getAll("dryRun").includes("All");
  const hasCopies = isReferenced(path) || body.includes(SPREAD) || request.method === "DELETE";
  if (!isDone(reply) || isRehearsal || !hasCopies) return answer;

  const name = path.name ?? textAt(reply.json, ["metadata", "name"]);
  if (name === undefined) return answer;
  const place = { ...path, name, query: new URLSearchParams() };
  const copies = new Copies(calls, own);
  const original = await copies.original(place);
  const peers = options.members.all().filter((member) => !member.own);
  if (original === undefined || request.method === "DELETE") {
    if (!(await copies.isDeleted(place))) return answer;
    // What a workload names stays until the last workload is deleted.
    await Promise.all(peers.map(async (member) => copies.remove(member, place, "to spread")));
    return answer;
  }
  if (textAt(original, ["metadata", "annotations", COPY_OF]) !== undefined) return answer;
  const isSpread = textAt(original, ["metadata", "annotations", SPREAD]) === "true";
  const copied = await Promise.all(
    peers.map(async (member) => {
      const first = await copies.put(member, place, original, !isSpread);
      if (!isSpread || !isNoNamespace(first)) return told(member.name, name, first);
      await namespaceMaker(calls, options.labelKey, false)(member, path.namespace ?? "");
      return told(member.name, name, await copies.put(member, place, original));
    }),
  );
  const extra = isSpread ? copied : copied.filter((text) => !text.endsWith(NAMESAKE));
  return { ...answer, warnings: [...warnings, ...extra.filter((text) => text !== "")] };
}

const NAMESAKE = "has another object of this name, which is left as it is";

function told(cluster: string, name: string, copied: Copied): string {
  if (copied === "done") return "";
  const why =
    copied === "namesake"
      ? NAMESAKE
      : copied === "token"
        ? "gets no copy of a token Secret"
        : `has no current copy: ${copied.refused}`;
  return `${name}: cluster ${cluster} ${why}`;
}

function isNoNamespace(copied: Copied): boolean {
  return typeof copied !== "string" && /namespaces? "[^"]*" not found/.test(copied.refused);
}

/** The workload that a DELETE is about, and what its pods name. */
export async function deletedWorkload(
  calls: MemberCalls,
  options: AnswersOptions,
  path: ApiPath,
): Promise<Json | undefined> {
  const own = options.members.own();
  if (own === undefined || path.name === undefined) return undefined;
  const reply = await calls.call(own, { method: "GET", path: pathOf({ ...path, subresource: undefined }) });
  return isDone(reply) ? reply.json : undefined;
}
