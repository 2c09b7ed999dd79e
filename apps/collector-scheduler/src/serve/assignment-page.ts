import { type collectorsV1, rpcErrors } from "@evenkeel/rpc";
import type { Weighed } from "../decide/snapshot-of.ts";
import type { Owners } from "../decide/owners.ts";
import type { Fleet } from "../fleet.ts";
import type { Target } from "../observe/target.ts";
import { isoTime, ownershipOf } from "./ownership.ts";

const DEFAULT_PAGE = 100;
const LARGEST_PAGE = 1000;
/** Collectors in one answer at most. */
export const MOST_COLLECTORS = 1000;

type Request = Omit<collectorsV1.AssignmentsRequest, "namespace" | "name">;

/** The collectors of a fleet, and one page of its targets in the order of their identities. */
export function assignmentPage(
  fleet: Fleet,
  owners: Owners,
  weighed: Iterable<Weighed>,
  { collector, job, pageSize, pageToken }: Request,
): collectorsV1.AssignmentsResponse {
  const limit = pageSize === 0 ? DEFAULT_PAGE : pageSize;
  if (limit > LARGEST_PAGE) {
    throw new rpcErrors.BadRequest({ method: "Assignments", fault: `page_size must be at most ${LARGEST_PAGE}` });
  }
  const selected: Target[] = [];
  for (const target of fleet.catalogue.targets.values()) {
    if (job !== "" && target.job !== job) continue;
    if (collector === "" || owners.of(target).includes(collector)) selected.push(target);
  }
  const rest = selected
    .filter(({ identity }) => identity > pageToken)
    .sort((a, b) => (a.identity < b.identity ? -1 : 1));
  const page = rest.slice(0, limit);
  const { at } = owners.assignments;
  return {
    collectors: loadedCollectors(owners, weighed),
    targets: page.map((target) => targetMessage(target, owners, fleet)),
    nextPageToken: rest.length > limit ? (page.at(-1)?.identity ?? "") : "",
    targetCount: selected.length,
    assignedAt: at === 0 ? undefined : isoTime(at),
    incomplete: !fleet.catalogue.answered,
  };
}

export function targetMessage(target: Target, owners: Owners, { history }: Fleet): collectorsV1.Target {
  const { job, address, labels, zone = "", node = "" } = target;
  const ownership = ownershipOf(owners, target, history);
  return { job, address, labels: Object.fromEntries(labels), zone, node, ownership };
}

/** Those with the most load first. */
function loadedCollectors(owners: Owners, weighed: Iterable<Weighed>): collectorsV1.Collector[] {
  const collectors = new Map(
    owners.assignments.members.map(({ name, zone = "", node = "", leaving = false }) => [
      name,
      { name, zone, node, leaving, targets: 0, load: 0 },
    ]),
  );
  for (const target of weighed) {
    const owner = collectors.get(owners.ownerOf(target) ?? "");
    if (owner === undefined) continue;
    owner.targets += 1;
    owner.load += target.load;
  }
  return [...collectors.values()].sort((a, b) => b.load - a.load).slice(0, MOST_COLLECTORS);
}
