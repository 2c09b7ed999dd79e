import { hashText, stickyBalance } from "@evenkeel/scoring";
import type { Member } from "./assignments.ts";
import { type Owners, poolOf } from "./owners.ts";
import type { FleetSettings } from "./snapshot.ts";

/** A target that may get another owner. */
export interface Row {
  readonly key: string;
  readonly load: number;
  /** The name of its owner, also of one that is dead; null without one. */
  readonly owner: string | null;
  /** Its zone or node; null without one, or without pools. */
  readonly pool: string | null;
}

export interface Levelled {
  /** Name of the owner of each row; null if no member may have it. */
  readonly owners: readonly (string | null)[];
  /** Rows that are larger than the mean. */
  readonly large: readonly number[];
  /** Whether the load of a member is further than 10 % from the mean of its pool. */
  readonly isOutside: boolean;
  /** Whether moves were left out because of the limit. */
  readonly isCut: boolean;
}

export interface LevelOptions {
  readonly level: boolean;
  readonly limit: number;
}

/** A pool keeps its targets until its members have this much of the mean of all. */
export const CROWDED = 1.25;
/** It takes targets back when they would have no more than this. */
const ROOMY = 1.15;

interface Holders {
  readonly members: readonly Member[];
  /** Load of each member without the rows, by name. */
  readonly fixed: ReadonlyMap<string, number>;
  readonly owners: Owners;
}

/**
 * Levels the load of each pool among its own members. Rows that are at home nowhere, and those that a crowded pool
 * gives away, are then placed among the members of all pools that are not crowded.
 */
export function levelled(
  rows: readonly Row[],
  holders: Holders,
  settings: FleetSettings,
  options: LevelOptions,
): Levelled {
  const { members } = holders;
  const staying = members.filter(({ leaving }) => leaving !== true);
  const pools = new Set(staying.map((member) => poolOf(member, settings.pool) ?? null));
  const away = strangers(rows, holders, settings.pool, options.level);
  const homeOf = (row: number): string | null => {
    const { pool } = rows[row] as Row;
    return pool !== null && pools.has(pool) && !away.has(row) ? pool : null;
  };
  const indices = rows.map((_, index) => index);
  const byPool = Map.groupBy(indices, homeOf);
  const result = new Result(rows, holders);
  let { limit } = options;
  const run = (list: readonly number[], among: readonly Member[]) => {
    result.balance(list, among, { ...options, limit });
    limit = Math.max(0, options.limit - result.moves);
  };
  if (settings.pool !== "none")
    for (const pool of [...pools].sort()) {
      if (pool === null) continue;
      run(
        byPool.get(pool) ?? [],
        members.filter((member) => poolOf(member, settings.pool) === pool),
      );
    }
  const rest = byPool.get(null) ?? [];
  const isPlaceable = (row: number) => settings.fallback === "any" || (rows[row] as Row).pool === null || away.has(row);
  if (settings.pool === "none") run(rest, members);
  else if (rest.length > 0) {
    const crowded = new Set([...away].map((row) => (rows[row] as Row).pool));
    const closed = members.map((member) =>
      crowded.has(poolOf(member, settings.pool) ?? null) ? { ...member, leaving: true } : member,
    );
    run(rest.filter(isPlaceable), closed);
  }
  return result;
}

/**
 * Rows that are not scraped in their own pool, because it has too much: those that are away already, then the heaviest.
 */
function strangers(
  rows: readonly Row[],
  { members, fixed }: Holders,
  by: FleetSettings["pool"],
  mayLevel: boolean,
): Set<number> {
  const away = new Set<number>();
  if (by === "none") return away;
  const staying = members.filter(({ leaving }) => leaving !== true);
  const poolOfMember = new Map(members.map((member) => [member.name, poolOf(member, by)]));
  let total = 0;
  for (const load of fixed.values()) total += load;
  for (const { load } of rows) total += load;
  const mean = total / Math.max(1, staying.length);
  const byPool = Map.groupBy(rows.keys(), (row) => (rows[row] as Row).pool);
  for (const [pool, own] of byPool) {
    const home = staying.filter((member) => poolOf(member, by) === pool);
    if (pool === null || home.length === 0 || home.length === staying.length) continue;
    const isAway = (row: number) => {
      const { owner } = rows[row] as Row;
      return owner !== null && poolOfMember.has(owner) && poolOfMember.get(owner) !== pool;
    };
    let inside = home.reduce((sum, { name }) => sum + (fixed.get(name) ?? 0), 0);
    for (const row of own) if (!isAway(row)) inside += (rows[row] as Row).load;
    const sorted = own.toSorted((a, b) => byWeight(rows[a] as Row, rows[b] as Row));
    for (const row of sorted.toReversed()) {
      if (!isAway(row)) continue;
      const { load } = rows[row] as Row;
      if (!mayLevel || inside + load > ROOMY * mean * home.length) away.add(row);
      else inside += load;
    }
    if (!mayLevel) continue;
    const most = CROWDED * mean * home.length;
    const leave = (row: number, limit: number) => {
      const { load } = rows[row] as Row;
      if (inside <= most || away.has(row) || load > limit) return;
      away.add(row);
      inside -= load;
    };
    for (const row of sorted) leave(row, inside - most);
    for (const row of sorted.toReversed()) leave(row, Infinity);
  }
  return away;
}

/** The heaviest first. */
function byWeight(a: Row, b: Row): number {
  return b.load - a.load || (a.key < b.key ? -1 : 1);
}

class Result implements Levelled {
  readonly owners: (string | null)[];
  readonly large: number[] = [];
  isOutside = false;
  isCut = false;
  /** Rows that were taken from an owner that is alive. */
  moves = 0;
  readonly #rows: readonly Row[];
  readonly #holders: Holders;
  readonly #loads: Map<string, number>;

  constructor(rows: readonly Row[], holders: Holders) {
    this.#rows = rows;
    this.#holders = holders;
    this.#loads = new Map(holders.fixed);
    this.owners = rows.map(() => null);
  }

  balance(list: readonly number[], among: readonly Member[], options: LevelOptions): void {
    const rows = list.map((row) => this.#rows[row] as Row);
    const index = new Map(among.map(({ name }, at) => [name, at]));
    const { owners } = this.#holders;
    const holders = among.map(({ name, leaving }) => ({
      ...{ name, fixed: this.#loads.get(name) ?? 0, closed: leaving === true },
    }));
    const before = rows.map(({ owner }) => index.get(owner ?? "") ?? -1);
    const balance = stickyBalance(
      holders,
      {
        load: rows.map(({ load }) => load),
        owner: before,
        preferred: rows.map(({ key, pool }) => index.get(owners.choice({ key, ...placeOf(pool, owners) }) ?? "") ?? -1),
        id: rows.map(({ key }) => idOf(key)),
      },
      options,
    );
    for (const [at, row] of list.entries()) {
      const owner = among[balance.owner[at] as number]?.name ?? null;
      this.owners[row] = owner;
      if (before[at] !== -1 && before[at] !== balance.owner[at]) this.moves += 1;
    }
    for (const [at, { name }] of among.entries()) this.#loads.set(name, balance.loads[at] as number);
    for (const at of balance.apart) this.large.push(list[at] as number);
    this.isOutside ||= balance.isOutside;
    this.isCut ||= balance.isCut;
  }
}

function placeOf(pool: string | null, { assignments }: Owners): { readonly zone?: string; readonly node?: string } {
  return pool === null || assignments.pool === "none" ? {} : { [assignments.pool]: pool };
}

/** A number of the key's own, from 53 bits of its hash. */
function idOf(key: string): number {
  const { high, low } = hashText(key);
  return high * 2 ** 20 + (low >>> 12);
}
