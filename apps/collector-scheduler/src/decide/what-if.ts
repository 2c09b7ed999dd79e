import type { Assignments, Member } from "./assignments.ts";
import { Owners } from "./owners.ts";
import { planOf } from "./plan.ts";
import type { Collector, FleetSettings, LoadedMember } from "./snapshot.ts";
import { snapshotOf, type Weighed } from "./snapshot-of.ts";

export interface WhatIfInput {
  /** Collectors to assume. */
  readonly replicas: number;
  /** Time of the decision, as RFC 3339. */
  readonly at: string;
  readonly settings: FleetSettings;
  readonly owners: Owners;
  readonly targets: readonly Weighed[];
  /** The name of a collector's pod. */
  readonly nameOf: (ordinal: number) => string;
}

export interface WhatIf {
  readonly before: readonly LoadedMember[];
  /** With every hand-over done. */
  readonly after: readonly LoadedMember[];
  readonly movedTargets: number;
  readonly movedLoad: number;
}

/**
 * Who would own what with another number of collectors, all of them ready. It plans as the leader does, with neither
 * cooldown nor a limit on moves. New collectors are assumed in the zones that have the fewest.
 */
export function whatIf({ replicas, at, settings, owners, targets, nameOf }: WhatIfInput): WhatIf {
  const { assignments } = owners;
  const snapshot = snapshotOf({
    ...{ at, namespace: "", name: "", paused: false, dryRun: false, stop: null, drain: [], polls: [], loadFault: null },
    settings: { ...settings, movesPerMinute: null, cooldown: 0 },
    scale: { present: replicas, replicas, scaler: null },
    restart: { policy: "wait", outdated: [], partition: null },
    targetCount: targets.length,
    collectors: assumedCollectors(replicas, assignments.members, settings.pool, nameOf),
    owners: new Owners(handedOver(assignments), owners),
    targets,
  });
  const { membership, moves } = planOf(snapshot);
  const before = new Map(snapshot.members.map((member) => [member.name, member]));
  const after = new Map(
    membership.members
      .filter(({ leaving }) => leaving !== true)
      .map((member) => {
        const { load, targets: count } = before.get(member.name) ?? { load: 0, targets: 0 };
        return [member.name, { ...member, load, targets: count }];
      }),
  );
  for (const { from, to, load } of moves) {
    add(after.get(from ?? ""), -load, -1);
    add(after.get(to ?? ""), load, 1);
  }
  const moved = moves.filter(({ from }) => from !== null);
  return {
    before: snapshot.members,
    after: [...after.values()],
    movedTargets: moved.length,
    movedLoad: moved.reduce((sum, { load }) => sum + load, 0),
  };
}

function add(member: { load: number; targets: number } | undefined, load: number, targets: number): void {
  if (member === undefined) return;
  // Rounding must not make it negative.
  member.load = Math.max(0, member.load + load);
  member.targets += targets;
}

function assumedCollectors(
  replicas: number,
  members: readonly Member[],
  pool: FleetSettings["pool"],
  nameOf: WhatIfInput["nameOf"],
): Collector[] {
  const known = new Map(members.map((member) => [member.name, member]));
  const zones = new Map<string, number>();
  if (pool === "zone") for (const { zone } of members) if (zone !== undefined) zones.set(zone, 0);
  const assumed: Collector[] = [];
  for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
    const name = nameOf(ordinal);
    const { zone = emptiest(zones), node } = known.get(name) ?? {};
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
    assumed.push({
      ...{ name, ordinal, awaySince: null },
      ...(zone !== undefined && { zone }),
      ...(node !== undefined && { node }),
    });
    known.delete(name);
  }
  // Those beyond hand their targets over.
  return [...assumed, ...Array.from(known.values(), ({ name }) => ({ name, ordinal: Infinity, awaySince: null }))];
}

function emptiest(zones: ReadonlyMap<string, number>): string | undefined {
  const [first] = [...zones].sort(([a, few], [b, many]) => few - many || (a < b ? -1 : 1));
  return first?.[0];
}

/** The assignments with every hand-over done. */
function handedOver(assignments: Assignments): Assignments {
  const exceptions = Array.from(assignments.exceptions, ([key, { owner, since, from, ...rest }]) => {
    return [key, from === undefined ? { owner, since, ...rest } : { owner, since }] as const;
  });
  const memory = { balancedAt: null, moves: [], fewerSince: null };
  return { ...assignments, exceptions: new Map(exceptions), memory };
}
