import type { Assignments, Exception, Member } from "./assignments.ts";
import { handOverStep } from "./hand-over.ts";
import { membership, type Membership } from "./membership.ts";
import { Owners } from "./owners.ts";
import { type Replicas, replicasOf } from "./replicas.ts";
import type { FleetSnapshot } from "./snapshot.ts";

/** Why a target changes its owner. */
export const MOVE_REASONS = ["New", "Orphaned", "Joined", "Leaving"] as const;

export interface Move {
  readonly key: string;
  /** Null if nobody had it. */
  readonly from: string | null;
  /** Null if no collector may have it. */
  readonly to: string | null;
  readonly load: number;
  readonly reason: (typeof MOVE_REASONS)[number];
}

/** What is to change. Nothing of it is done by deciding: see {@link assignmentsAfter}. */
export interface FleetPlan {
  readonly membership: Membership;
  readonly scale: Replicas;
  /** Replicas that the StatefulSet is to have: those wanted, and those that still hand targets over. Null: as it has. */
  readonly replicas: number | null;
  readonly moves: readonly Move[];
  /** Exceptions to record, and null for those to drop. */
  readonly changes: ReadonlyMap<string, Exception | null>;
  /** Hand-overs that go on. */
  readonly handingOver: number;
  /** Members to be drained that own nothing any more. */
  readonly drained: readonly string[];
  /** When time alone changes the plan, in milliseconds; null if it does not. */
  readonly wakeAt: number | null;
}

export function planOf(snapshot: FleetSnapshot): FleetPlan {
  const { settings, memory, targets, jobs, pools, handOvers, scale: given, collectors } = snapshot;
  const now = Date.parse(snapshot.at);
  const at = Math.max(now, snapshot.assignedAt + 1);
  const scale = replicasOf(given, snapshot.targetCount, memory.fewerSince, now);
  const changed = membership(snapshot, scale.wanted);
  const { members } = changed;
  const alive = new Map(members.map((member) => [member.name, member]));
  const next = new Owners({ ...empty(snapshot), at, members });
  const changes = new Map<string, Exception | null>(snapshot.stale.map((key) => [key, null]));
  const moves: Move[] = [];
  const wakes: number[] = [];

  const steps = { polls: snapshot.polls, now, at, isAlive: (name: string) => alive.has(name) };
  const orphans: { key: string; job: string; pool: string | null; load: number; owner: string }[] = [];
  let handingOver = 0;
  for (const handOver of handOvers) {
    const step = handOverStep(handOver, steps);
    if (step.kind === "orphan") orphans.push(handOver);
    else changes.set(handOver.key, step.exception);
    if (step.kind !== "wait") continue;
    handingOver += 1;
    if (step.until !== null) wakes.push(step.until);
  }

  const move = (key: string, job: string, pool: string | null, load: number, from: string | null) => {
    const to = next.choice({ key, ...(pool !== null && { [settings.pool]: pool }) }) ?? null;
    const former = from === null ? undefined : alive.get(from);
    if (to === from) return;
    moves.push({
      key,
      from,
      to,
      load,
      reason: from === null ? "New" : !former ? "Orphaned" : former.leaving ? "Leaving" : "Joined",
    });
    if (to === null) changes.set(key, null);
    else if (former === undefined) changes.set(key, { owner: to, since: at, ...(from !== null && { diedAt: now }) });
    else changes.set(key, { owner: to, from: former.name, ...(isGap(settings, job) && { gap: true }), since: at });
    if (former !== undefined && to !== null) handingOver += 1;
  };
  for (const [row, key] of targets.key.entries()) {
    const owner = snapshot.members[targets.owner[row] as number]?.name ?? null;
    const pool = pools[targets.pool[row] as number] ?? null;
    move(key, jobs[targets.job[row] as number] as string, pool, targets.load[row] as number, owner);
  }
  for (const { key, job, pool, load, owner } of orphans) move(key, job, pool, load, owner);

  for (const { awaySince } of collectors) if (awaySince !== null) wakes.push(awaySince + settings.seatGrace);
  const later = wakes.filter((wake) => wake > now);
  return {
    membership: changed,
    scale,
    replicas: replicasFor(scale.wanted, members, snapshot),
    moves,
    changes,
    handingOver,
    drained: changed.left.filter((name) => snapshot.drain.includes(name)),
    wakeAt: later.length === 0 ? null : Math.min(...later),
  };
}

/** What is in force after the plan; the very same object if nothing changes. */
export function assignmentsAfter(before: Assignments, snapshot: FleetSnapshot, plan: FleetPlan): Assignments {
  const { pool, fallback } = snapshot.settings;
  const { members } = plan.membership;
  const memory = { ...before.memory, fewerSince: plan.scale.fewerSince };
  const exceptions = new Map(before.exceptions);
  let isChanged = !equal(
    [before.pool, before.fallback, before.members, before.memory],
    [pool, fallback, members, memory],
  );
  for (const [key, exception] of plan.changes) {
    if (equal(exceptions.get(key) ?? null, exception)) continue;
    isChanged = true;
    if (exception === null) exceptions.delete(key);
    else exceptions.set(key, exception);
  }
  if (!isChanged) return before;
  const at = Math.max(Date.parse(snapshot.at), before.at + 1);
  return { at, members, pool, fallback, exceptions, memory };
}

function isGap({ handOver, handOverJobs }: FleetSnapshot["settings"], job: string): boolean {
  return handOver === "gap" && (handOverJobs === null || handOverJobs.includes(job));
}

/** The set shrinks only when the collectors beyond it have handed their targets over. */
function replicasFor(
  wanted: number | null,
  members: readonly Member[],
  { scale, collectors }: FleetSnapshot,
): number | null {
  if (wanted === null) return null;
  const names = new Set(members.map(({ name }) => name));
  const needed = collectors.filter(({ name }) => names.has(name)).map(({ ordinal }) => ordinal + 1);
  return Math.max(wanted, Math.min(scale.present, Math.max(0, ...needed)));
}

function empty({ settings, memory }: FleetSnapshot): Assignments {
  return { at: 0, members: [], pool: settings.pool, fallback: settings.fallback, exceptions: new Map(), memory };
}

function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
