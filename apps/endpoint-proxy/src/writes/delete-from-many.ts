import { at, textAt } from "../bodies/json-text.ts";
import { JSON_TYPE, type ObjectBody } from "../bodies/object-body.ts";
import type { Member } from "../members/member.ts";
import { decodeVersions, type VersionLayout } from "../reads/version-vector.ts";
import { type ApiPath, pathOf } from "./api-path.ts";
import { type Answer, conflict, KubeFault } from "./kube-status.ts";
import { type Call, isDone, type MemberCalls, messageOf, reasonOf, type Reply } from "./member-calls.ts";
import { unreachable, withQuery } from "./transaction.ts";

export interface ManyDelete {
  readonly path: ApiPath;
  /** DeleteOptions, if the request has a body. */
  readonly options: ObjectBody | undefined;
  readonly dryRun: boolean;
  readonly layout: VersionLayout | undefined;
}

const UID = ["preconditions", "uid"];
const VERSION = ["preconditions", "resourceVersion"];

/**
 * Deletes an object or a collection in every member. All are asked in advance. A member that does not have it is no
 * failure. What is deleted stays deleted if another member fails; the answer then says which.
 */
export async function deleteFromMany(
  calls: MemberCalls,
  members: readonly Member[],
  request: ManyDelete,
): Promise<Answer> {
  const call = await callsOf(calls, members, request);
  const rehearsed = await calls.all(members, (member) => asDryRun(call(member)));
  const silent = rehearsed.filter(({ status }) => status === undefined);
  if (silent.length > 0) throw unreachable(silent);
  const refused = failures(rehearsed, "Unchanged");
  if (refused !== undefined) throw refused;
  const replies = request.dryRun ? rehearsed : await calls.all(members, call);
  const failed = request.dryRun ? undefined : failures(replies, "Deleted");
  if (failed !== undefined) throw failed;
  const own = replies.find(({ member }) => member.own);
  const answering = own !== undefined && isDone(own) ? own : (replies.find(isDone) ?? own);
  const { status = 500, contentType = JSON_TYPE, body = Buffer.alloc(0) } = answering ?? {};
  return {
    status,
    contentType,
    body,
    warnings: replies.flatMap(({ warnings }) => warnings),
  };
}

/** The DELETE of each member: preconditions on what the merged object shows become the member's own. */
async function callsOf(
  calls: MemberCalls,
  members: readonly Member[],
  { path, options, layout }: ManyDelete,
): Promise<(member: Member) => Call> {
  const bare: Call = { method: "DELETE", path: pathOf(path, path.query) };
  const uid = textAt(options?.view, UID);
  const version = textAt(options?.view, VERSION);
  if (options === undefined) return () => bare;
  if (uid === undefined && version === undefined) return () => ({ ...bare, ...options.encode() });

  const replies = await calls.all(members, () => ({
    method: "GET",
    path: pathOf(path),
  }));
  const held = new Map(replies.filter(isDone).map(({ member, json }) => [member.name, json]));
  const versionIn = (member: Member): string | undefined =>
    textAt(held.get(member.name), ["metadata", "resourceVersion"]);
  const own = members.find((member) => member.own);
  const given = version === undefined ? undefined : decodeVersions(version, layout);
  const isCurrent =
    given === undefined ||
    (given.kind === "own" && (own === undefined || versionIn(own) === given.version)) ||
    (given.kind === "vector" && members.every((member) => versionIn(member) === given.versions.get(member.name)));
  const ownUid = textAt(held.get(own?.name ?? ""), ["metadata", "uid"]);
  if (!isCurrent || (uid !== undefined && ownUid !== undefined && uid !== ownUid)) {
    throw conflict(
      `Operation cannot be fulfilled on ${path.resource} "${path.name ?? ""}": the precondition does not hold`,
    );
  }
  return (member) => {
    const object = held.get(member.name);
    let mine = options;
    // The uid is the own cluster's. Without an object there, it names none elsewhere.
    if (uid !== undefined && ownUid !== undefined) mine = mine.set(UID, textAt(object, ["metadata", "uid"]) ?? uid);
    if (version !== undefined) mine = mine.set(VERSION, versionIn(member) ?? version);
    return { ...bare, ...mine.encode() };
  };
}

/** kube-apiserver ignores the query if there is a body; JSON is all that kubectl sends. */
function asDryRun(call: Call): Call {
  if (call.body === undefined) return { ...call, path: withQuery(call.path, "dryRun", "All") };
  if (call.contentType !== JSON_TYPE)
    return {
      ...call,
      path: withQuery(call.path, "dryRun", "All"),
      body: undefined,
    };
  const options = JSON.parse(call.body.toString()) as Record<string, unknown>;
  return {
    ...call,
    body: Buffer.from(JSON.stringify({ ...options, dryRun: ["All"] })),
  };
}

/**
 * `done` says what is true of the members that did not refuse. One that cannot be asked in advance is no failure; it is
 * one if it refuses the DELETE itself in the same words.
 */
function failures(replies: readonly Reply[], done: "Deleted" | "Unchanged"): KubeFault | undefined {
  const isExcused = (reply: Reply): boolean => done === "Unchanged" && isNoDryRun(reply);
  const failed = replies.filter((reply) => !isDone(reply) && reply.status !== 404 && !isExcused(reply));
  const [first] = failed.toSorted((a, b) => Number(b.member.own) - Number(a.member.own));
  const own = replies.find(({ member }) => member.own);
  if (first === undefined) {
    if (own === undefined || replies.some(isDone) || replies.some(isExcused)) return undefined;
    return new KubeFault(404, "NotFound", messageOf(own));
  }
  const causes = replies.map((reply) => ({
    field: reply.member.name,
    reason: isDone(reply) ? done : reply.status === undefined ? "Unreachable" : reasonOf(reply),
    message: `${reply.member.name}: ${isDone(reply) ? done.toLowerCase() : messageOf(reply)}`,
  }));
  const where = first.member.own ? "" : `cluster ${first.member.name}: `;
  return new KubeFault(
    first.status ?? 503,
    reasonOf(first) || "ServiceUnavailable",
    `${where}${messageOf(first)}`,
    causes,
  );
}

function isNoDryRun(reply: Reply): boolean {
  return (
    reply.status === 400 && /does not support dry run/i.test(messageOf(reply)) && at(reply.json, ["code"]) !== undefined
  );
}
