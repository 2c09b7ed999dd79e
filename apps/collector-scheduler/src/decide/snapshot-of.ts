import type { Exception, Member, Poll } from "./assignments.ts";
import { type Givers, giversOf, type Owned } from "./givers.ts";
import { membership } from "./membership.ts";
import { Owners, poolOf } from "./owners.ts";
import { replicasOf } from "./replicas.ts";
import type { FleetSnapshot, HandOver, LoadedMember, SetApart } from "./snapshot.ts";

/** What of a target a decision depends on. */
export interface Weighed {
  readonly key: string;
  readonly job: string;
  /** Seconds between two scrapes. */
  readonly interval: number;
  readonly zone?: string;
  readonly node?: string;
  /** What it costs its collector; see {@link loadOf}. */
  readonly load: number;
}

type Derived =
  | (
      | "assignedAt"
      | "members"
      | "recordedPool"
      | "jobs"
      | "pools"
      | "targets"
      | "handOvers"
      | "stale"
      | "polls"
      | "memory"
    )
  | "apart";

/** What the caller passes in: the world as it sees it, all targets, and who owns them. */
export interface Observed extends Omit<FleetSnapshot, Derived> {
  /** Of the assignments in force. */
  readonly owners: Owners;
  /** Every target, in any order. */
  readonly targets: Iterable<Weighed>;
  /** Of all collectors and jobs; those without a hand-over are left out. */
  readonly polls: readonly Poll[];
}

/** How long the death of an owner counts against its targets, in milliseconds. */
export const SUSPICION = 3_600_000;

/**
 * The snapshot of a decision. It holds only the targets that may move, so that its size does not grow with the others.
 */
export function snapshotOf({ owners, targets, polls, ...about }: Observed): FleetSnapshot {
  const { assignments } = owners;
  const now = Date.parse(about.at);
  const rows = rowsOf(targets, about.settings.pool);
  const handOvers = handOversOf(rows.values(), owners);
  // Each lookup costs, and there are many targets.
  const owned = Array.from(rows.values(), (row) => ({ row, owner: owners.ownerOf(row) }));
  const before = loadedMembers(owned, owners.assignments.members);
  const { wanted } = replicasOf(about.scale, about.targetCount, assignments.memory.fewerSince, now);
  const { members: after } = membership({ ...about, members: before, handOvers }, wanted);
  const next = new Owners({ ...assignments, ...about.settings, members: after }, owners);
  const givers = giversOf(owned, after, about.settings.pool);
  const index = new Map(before.map(({ name }, at) => [name, at]));
  const [jobs, pools] = [new Indexed(), new Indexed()];
  const columns = { key: [], load: [], job: [], owner: [], pool: [], diedAt: [], pinned: [] } as Columns;
  for (const { row, owner } of owned) {
    const exception = assignments.exceptions.get(row.key);
    if (exception?.from !== undefined || isSetApart(exception, givers, now)) continue;
    if (!givers.mayGive(row, owner) && (exception !== undefined || next.choice(row) === owner)) continue;
    const pool = poolOf(row, about.settings.pool);
    columns.key.push(row.key);
    columns.load.push(row.load);
    columns.job.push(jobs.of(row.job));
    columns.owner.push(owner === undefined ? -1 : (index.get(owner) ?? -1));
    columns.pool.push(pool === undefined ? -1 : pools.of(pool));
    columns.diedAt.push(exception?.diedAt ?? -1);
    columns.pinned.push(exception === undefined ? 0 : 1);
  }
  const isStale = (key: string) => {
    const [row, exception] = [rows.get(key), assignments.exceptions.get(key)];
    if (row === undefined || exception === undefined) return true;
    const { owner, from, apart, diedAt } = exception;
    if (from !== undefined || (apart === true && !isForgiven(exception, now))) return false;
    // A choice that changes in this decision would take the target along without a hand-over.
    return (
      owner === owners.choice(row) && owner === next.choice(row) && (diedAt === undefined || now - diedAt > SUSPICION)
    );
  };
  const involved = new Set(handOvers.flatMap(({ owner, from, job }) => [`${owner} ${job}`, `${from} ${job}`]));
  return {
    ...about,
    assignedAt: assignments.at,
    members: before,
    recordedPool: { pool: assignments.pool, fallback: assignments.fallback },
    jobs: jobs.names,
    pools: pools.names,
    targets: columns,
    handOvers,
    apart: apartOf(rows, assignments),
    stale: about.targetCount === null ? [] : [...assignments.exceptions.keys()].filter(isStale),
    polls: polls.filter(({ collector, job }) => involved.has(`${collector} ${job}`)),
    memory: assignments.memory,
  };
}

/** A target with which two owners died stays with its collector, or waits for it, until it is forgiven. */
function isSetApart(exception: Exception | undefined, givers: Givers, now: number): boolean {
  if (exception?.apart !== true || isForgiven(exception, now)) return false;
  return givers.isStaying(exception.owner) || !givers.isMember(exception.owner);
}

/** Whether a target was set apart so long ago that it is treated as any other. */
export function isForgiven({ since }: Pick<Exception, "since">, now: number): boolean {
  return now - since >= SUSPICION;
}

function apartOf(rows: ReadonlyMap<string, unknown>, { exceptions }: Owners["assignments"]): readonly SetApart[] {
  const found: SetApart[] = [];
  for (const [key, { owner, since, apart }] of exceptions)
    if (apart === true && rows.has(key)) found.push({ key, owner, since });
  return found;
}

type Columns = { [K in keyof FleetSnapshot["targets"]]: FleetSnapshot["targets"][K][number][] };

/** Targets of a key have one owner: their loads are one. */
function rowsOf(targets: Iterable<Weighed>, pool: FleetSnapshot["settings"]["pool"]): Map<string, Weighed> {
  const rows = new Map<string, Weighed>();
  for (const target of targets) {
    const known = rows.get(target.key);
    if (known === undefined) rows.set(target.key, target);
    else rows.set(target.key, merged(known, target, pool));
  }
  return rows;
}

/** Which zone counts must not depend on the order of the targets. */
function merged(a: Weighed, b: Weighed, pool: FleetSnapshot["settings"]["pool"]): Weighed {
  const first = (poolOf(a, pool) ?? "") <= (poolOf(b, pool) ?? "") ? a : b;
  return { ...first, load: a.load + b.load, interval: Math.max(a.interval, b.interval) };
}

function loadedMembers(owned: readonly Owned[], members: readonly Member[]): readonly LoadedMember[] {
  const sums = new Map(members.map(({ name }) => [name, { load: 0, targets: 0 }]));
  for (const { row, owner } of owned) {
    const sum = owner === undefined ? undefined : sums.get(owner);
    if (sum === undefined) continue;
    sum.load += row.load;
    sum.targets += 1;
  }
  return members.map((member) => ({ ...member, ...(sums.get(member.name) ?? { load: 0, targets: 0 }) }));
}

function handOversOf(rows: Iterable<Weighed>, { assignments }: Owners): readonly HandOver[] {
  const found: HandOver[] = [];
  if (assignments.exceptions.size === 0) return found;
  for (const { key, job, load, interval, ...place } of rows) {
    const exception = assignments.exceptions.get(key);
    if (exception?.from === undefined) continue;
    const { owner, from, gap = false, since, seenAt = null, diedAt = null } = exception;
    const pool = poolOf(place, assignments.pool) ?? null;
    found.push({ key, job, pool, load, interval: interval * 1000, owner, from, gap, since, seenAt, diedAt });
  }
  return found;
}

/** Names by their index, in order of first use. */
class Indexed {
  readonly names: string[] = [];
  readonly #index = new Map<string, number>();

  of(name: string): number {
    const known = this.#index.get(name);
    if (known !== undefined) return known;
    this.#index.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}
