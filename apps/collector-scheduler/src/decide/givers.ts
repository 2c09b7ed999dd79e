import type { Assignments, Member } from "./assignments.ts";
import { CROWDED } from "./levelling.ts";
import { type Placed, poolOf } from "./owners.ts";

/** Load is levelled when a member is further than this from the mean, in parts of it. */
const TRIGGER = 0.1;
const GOAL = 0.05;
/** Members are asked for so many times the load that others lack, so that there is a choice. */
const CHOICE = 2;

type Loaded = Placed & { readonly load: number };

/** A target and the member that owns it before the decision. */
export interface Owned {
  readonly row: Loaded;
  readonly owner: string | undefined;
}

/** Which targets a decision looks at, besides those that lost their owner. */
export interface Givers {
  isMember(name: string): boolean;
  /** Whether a member gets and keeps targets. */
  isStaying(name: string): boolean;
  /** Whether a target may move: it has no owner that stays, its owner gives load away, or it is not in its own pool. */
  mayGive(target: Loaded, owner: string | undefined): boolean;
}

/**
 * Members that give load away. While all of a pool are near its mean, none does; else those with too much do, and as
 * many of the fullest as it takes to fill the others. Of a crowded pool, all do.
 */
export function giversOf(owned: readonly Owned[], members: readonly Member[], pool: Assignments["pool"]): Givers {
  const loads = new Map(members.map(({ name }) => [name, 0]));
  const homeless = new Map<string | undefined, number>();
  let total = 0;
  for (const { row, owner = "" } of owned) {
    const known = loads.get(owner);
    total += row.load;
    if (known !== undefined) loads.set(owner, known + row.load);
    else homeless.set(poolOf(row, pool), (homeless.get(poolOf(row, pool)) ?? 0) + row.load);
  }
  const staying = members.filter(({ leaving }) => leaving !== true);
  const meanOfAll = total / Math.max(1, staying.length);
  const givers = new Set<string>();
  const means = new Map<string | undefined, number>();
  for (const [name, own] of Map.groupBy(staying, (member) => poolOf(member, pool))) {
    const sums = own.map((member) => ({ name: member.name, load: loads.get(member.name) ?? 0 }));
    const sum = sums.reduce((all, { load }) => all + load, homeless.get(name) ?? 0);
    const mean = sum / own.length;
    means.set(name, mean);
    const isCrowded = pool !== "none" && mean > CROWDED * meanOfAll;
    for (const giver of isCrowded ? sums.map((each) => each.name) : giving(sums, mean)) givers.add(giver);
  }
  const pools = new Map(members.map((member) => [member.name, poolOf(member, pool)]));
  const stays = new Set(staying.map(({ name }) => name));
  return {
    isMember: (name) => loads.has(name),
    isStaying: (name) => stays.has(name),
    mayGive: (target, owner) => {
      if (owner === undefined || !stays.has(owner) || givers.has(owner)) return true;
      const [home, own] = [poolOf(target, pool), pools.get(owner)];
      return (home !== undefined && home !== own && means.has(home)) || target.load > (means.get(own) ?? Infinity);
    },
  };
}

/** Names of those that give, if somebody is further from the mean than the trigger. */
function giving(sums: readonly { readonly name: string; readonly load: number }[], mean: number): string[] {
  if (sums.every(({ load }) => Math.abs(load - mean) <= TRIGGER * mean)) return [];
  const low = (1 - GOAL) * mean;
  let lacking = CHOICE * sums.reduce((all, { load }) => all + Math.max(0, low - load), 0);
  const found: string[] = [];
  for (const { name, load } of sums.toSorted((a, b) => b.load - a.load || (a.name < b.name ? -1 : 1))) {
    if (load <= low || (lacking <= 0 && load <= (1 + GOAL) * mean)) break;
    found.push(name);
    lacking -= load - low;
  }
  return found;
}
