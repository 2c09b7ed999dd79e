import type { Json } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { type ApiPath, pathOf } from "./api-path.ts";
import type { Change } from "./change.ts";
import { KubeFault, notFound } from "./kube-status.ts";
import { isDone, type MemberCalls, messageOf, reasonOf } from "./member-calls.ts";
import { unreachable } from "./transaction.ts";

/**
 * What each member has before a change, by name. Throws 503 if a member that may hold the object does not answer, and
 * 404 if the own cluster does not have it, unless the change creates it.
 */
export async function readHeld(
  calls: MemberCalls,
  members: readonly Member[],
  path: ApiPath,
  change: Change,
): Promise<ReadonlyMap<string, Json>> {
  const place = pathOf({ ...path, subresource: undefined });
  const replies = await calls.all(members, () => ({
    method: "GET",
    path: place,
  }));
  const silent = replies.filter(({ status }) => status === undefined);
  if (silent.length > 0) throw unreachable(silent);
  const refused = replies.find((reply) => !isDone(reply) && reply.status !== 404);
  if (refused !== undefined) {
    const where = refused.member.own ? "" : `cluster ${refused.member.name}: `;
    throw new KubeFault(refused.status ?? 500, reasonOf(refused), `${where}${messageOf(refused)}`);
  }
  const holders = replies.filter(isDone);
  const own = replies.find(({ member }) => member.own);
  const isApply = change.method === "PATCH" && change.creates;
  if (own !== undefined && !isDone(own) && !isApply) {
    throw notFound(
      foundElsewhere(
        messageOf(own),
        holders.map(({ member }) => member),
      ),
    );
  }
  return new Map(holders.flatMap(({ member, json }) => (json === undefined ? [] : [[member.name, json] as const])));
}

/** A 404 that says where the object is and how to reach it. */
export function foundElsewhere(message: string, holders: readonly Member[]): string {
  if (holders.length === 0) return message;
  const names = holders.map(({ name }) => name).join(", ");
  return `${message} in the own cluster; it exists in ${names}: use the path /clusters/${holders[0]?.name ?? ""} of this server`;
}
