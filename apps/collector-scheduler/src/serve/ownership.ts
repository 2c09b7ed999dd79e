import { collectorsV1 } from "@evenkeel/rpc";
import type { Exception } from "../decide/assignments.ts";
import { type Owners, type Placed, poolOf } from "../decide/owners.ts";
import type { OwnerHistory } from "./owner-history.ts";

const { Reason } = collectorsV1;

type Why = Pick<collectorsV1.Ownership, "reason" | "message">;

/** Who scrapes a target and why, by the assignments that are in force. */
export function ownershipOf(owners: Owners, target: Placed, history: OwnerHistory): collectorsV1.Ownership {
  const exception = countingException(owners, target);
  return {
    owner: owners.ownerOf(target) ?? "",
    servedTo: [...owners.of(target)],
    since: exception && isoTime(exception.since),
    ...(exception === undefined ? whyByHash(owners, target) : whyByException(exception)),
    earlier: history.of(target.key).map(({ name, until }) => ({ name, until: isoTime(until) })),
  };
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** One that names no member does not count. */
function countingException(owners: Owners, target: Placed): Exception | undefined {
  const exception = owners.assignments.exceptions.get(target.key);
  return exception?.apart === true || exception?.owner === owners.ownerOf(target) ? exception : undefined;
}

function whyByException({ owner, from, gap, seenAt, diedAt, apart }: Exception): Why {
  if (apart === true) {
    const message = `Two collectors died while they scraped it, so it stays with ${owner}: check the size of its answers`;
    return { reason: Reason.REASON_SET_APART, message };
  }
  if (from !== undefined) {
    const awaited = gap === true ? from : owner;
    const step = seenAt === undefined ? `the next poll of ${awaited} is awaited` : `${awaited} has polled`;
    const now = gap === true ? "no collector scrapes it until then" : "both scrape it until then";
    const message = `It is handed over from ${from} to ${owner}: ${step}, and ${now}`;
    return { reason: Reason.REASON_HANDING_OVER, message };
  }
  const cause = diedAt === undefined ? "to level the load" : "because its collector went away";
  return { reason: Reason.REASON_PLACED, message: `It was given to ${owner} ${cause}` };
}

function whyByHash(owners: Owners, target: Placed): Why {
  const { members, pool } = owners.assignments;
  const owner = owners.choice(target);
  const home = poolOf(target, pool);
  if (owner !== undefined) {
    const among = members.filter((member) => home !== undefined && poolOf(member, pool) === home);
    const where =
      among.length > 0 ? `the ${among.length} collectors of ${pool} ${home ?? ""}` : `all ${members.length}`;
    return { reason: Reason.REASON_HASH, message: `The hash of its job and address chose ${owner} among ${where}` };
  }
  const message =
    members.length === 0
      ? "No collector is ready: see the pods of the StatefulSet"
      : `No collector runs in ${pool} ${home ?? ""}, and spec.placement.fallback is none`;
  return { reason: Reason.REASON_NO_COLLECTOR, message };
}
