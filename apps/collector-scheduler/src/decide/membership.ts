import type { Member } from "./assignments.ts";
import type { Collector, FleetSnapshot } from "./snapshot.ts";

/**
 * Milliseconds for which a collector that may not join at once must be ready, so that one that crashes gets nothing.
 */
export const JOIN_AFTER = 10_000;

/** Who is a member after the decision, and what changed. */
export interface Membership {
  readonly members: readonly Member[];
  readonly joined: readonly string[];
  /** They died: their seat was empty for longer than its grace. */
  readonly dead: readonly string[];
  /** They handed all their targets over, or nobody is left to take them. */
  readonly left: readonly string[];
  /** Their pod is away and their targets wait for it. */
  readonly kept: readonly string[];
}

type Given = Pick<FleetSnapshot, "at" | "collectors" | "drain" | "restart" | "targetCount"> & {
  readonly settings: Pick<FleetSnapshot["settings"], "seatGrace" | "handOver">;
  readonly members: readonly (Member & { readonly targets: number })[];
  readonly handOvers: readonly Pick<FleetSnapshot["handOvers"][number], "owner" | "from">[];
};

/**
 * Collectors within `wanted` become members when they are ready: the first ones once all that are wanted are, or after
 * {@link JOIN_AFTER}, so that no single one gets every target; a further one at once, if {@link joinsAtOnce}. A member
 * beyond `wanted`, or one to be drained, hands its targets over and is then no longer a member; if none is wanted, all
 * leave at once. One whose pod is away keeps its targets for the grace of its seat. While no collector is ready nobody
 * dies: then it is more likely that the view is wrong than that all are dead.
 */
export function membership(given: Given, wanted: number | null): Membership {
  const { collectors, drain, members, settings, handOvers } = given;
  const now = Date.parse(given.at);
  const seats = new Map(collectors.map((collector) => [collector.name, collector]));
  const busy = new Set(handOvers.flatMap(({ owner, from }) => [owner, from]));
  const isWanted = ({ name, ordinal }: Collector) => (wanted === null || ordinal < wanted) && !drain.includes(name);
  const hasHeirs = wanted !== 0;
  const isAnyReady = collectors.some(({ awaySince }) => awaySince === null);

  const [after, joined, dead, left, kept]: [Member[], string[], string[], string[], string[]] = [[], [], [], [], []];
  for (const member of members) {
    const { name } = member;
    const seat = seats.get(name);
    const leaving = seat !== undefined && !isWanted(seat);
    if (seat !== undefined && seat.awaySince !== null) {
      if (isAnyReady && now - seat.awaySince >= settings.seatGrace) {
        dead.push(name);
        continue;
      }
      if (!leaving) kept.push(name);
    }
    const ownsNothing = given.targetCount !== null && member.targets === 0 && !busy.has(name);
    if (leaving && (ownsNothing || !hasHeirs)) left.push(name);
    else after.push(memberOf(member, seat, leaving));
  }
  const known = new Set(members.map(({ name }) => name));
  const expected = collectors.filter(isWanted);
  const isComplete = expected.length >= (wanted ?? 0) && expected.every(({ awaySince }) => awaySince === null);
  for (const seat of collectors) {
    if (seat.awaySince !== null || known.has(seat.name) || !isWanted(seat)) continue;
    const mayJoin = members.length === 0 ? isComplete : joinsAtOnce(seat, given);
    if (!mayJoin && now - (seat.readySince ?? -Infinity) < JOIN_AFTER) continue;
    joined.push(seat.name);
    after.push(memberOf(seat, seat, false));
  }
  return { members: after.sort((a, b) => (a.name < b.name ? -1 : 1)), joined, dead, left, kept };
}

/**
 * Whether a collector gets its share when its pod is ready. Until its scrapes have begun the former owners go on, so
 * one that crashes loses nothing; not so with a gap. During a restart with hand-over it waits: the next one to be
 * drained gives it its targets.
 */
function joinsAtOnce({ hasCrashed }: Collector, { settings, restart }: Given): boolean {
  const isRestarting = restart.policy === "handOver" && restart.outdated?.length !== 0;
  return hasCrashed !== true && settings.handOver === "overlap" && !isRestarting;
}

/**
 * A pod that is away has no zone and node: those of the last one count. So does the zone of a node that is not known
 * yet.
 */
function memberOf(
  member: Pick<Member, "name" | "zone" | "node">,
  seat: Collector | undefined,
  leaving: boolean,
): Member {
  const node = (seat?.awaySince === null ? seat.node : undefined) ?? member.node;
  const zone = (seat?.awaySince === null ? seat.zone : undefined) ?? (node === member.node ? member.zone : undefined);
  return {
    name: member.name,
    ...(zone !== undefined && { zone }),
    ...(node !== undefined && { node }),
    ...(leaving && { leaving }),
  };
}
