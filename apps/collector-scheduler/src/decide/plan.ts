import { allowance } from "@evenkeel/scoring";
import type { Assignments, Exception, Member, Memory, Poll } from "./assignments.ts";
import { handOverStep, type Step, type StepTerms } from "./hand-over.ts";
import { type Levelled, levelled, type Row } from "./levelling.ts";
import { JOIN_AFTER, membership, type Membership } from "./membership.ts";
import { Owners, poolOf } from "./owners.ts";
import { type Replicas, replicasOf, WINDOW } from "./replicas.ts";
import { restartPartition } from "./restarts.ts";
import { isForgiven, SUSPICION } from "./snapshot-of.ts";
import type { FleetSnapshot } from "./snapshot.ts";

/** Why a target changes its owner. */
export const MOVE_REASONS = [
  "New",
  "Orphaned",
  "SetApart",
  "Leaving",
  "Joined",
  "LeftPool",
  "BackInPool",
  "OutOfBand",
] as const;

export interface Move {
  readonly key: string;
  /** Null if nobody had it. */
  readonly from: string | null;
  /** Null if no collector may have it. */
  readonly to: string | null;
  readonly load: number;
  readonly reason: (typeof MOVE_REASONS)[number];
}

/** What is to change. Nothing of it is done by deciding: see `assignmentsAfter`. */
export interface FleetPlan {
  readonly membership: Membership;
  readonly scale: Replicas;
  /**
   * Replicas that the StatefulSet is to have: those wanted, and those that still hand targets over. Null: as it has.
   */
  readonly replicas: number | null;
  /** Pods of the StatefulSet with a lower ordinal are not restarted; null: it restarts them by itself. */
  readonly partition: number | null;
  readonly moves: readonly Move[];
  /** Exceptions to record, and null for those to drop. */
  readonly changes: ReadonlyMap<string, Exception | null>;
  /** Hand-overs that go on. */
  readonly handingOver: number;
  /** Collectors to be drained that own nothing. */
  readonly drained: readonly string[];
  /** Keys of targets that are larger than the mean, each with a collector that gets little else. */
  readonly large: readonly string[];
  /** Why load stays uneven; null if it is level, or is levelled. */
  readonly uneven: "Cooldown" | "LoadUnknown" | "BudgetSpent" | "AsLevelAsItGets" | null;
  readonly memory: Memory;
  /** When time alone changes the plan, in milliseconds; null if it does not. */
  readonly wakeAt: number | null;
}

const MINUTE = 60_000;
/** More suspects at once tell of lost nodes, unless containers crashed: then one of them may kill its collector. */
const MOST_SUSPECTS = 10;

export function planOf(snapshot: FleetSnapshot): FleetPlan {
  const { settings, memory } = snapshot;
  const now = Date.parse(snapshot.at);
  const at = Math.max(now, snapshot.assignedAt + 1);
  const scale = replicasOf(snapshot.scale, snapshot.targetCount, memory.fewerSince, now);
  const changed = membership(snapshot, scale.wanted);
  const { members } = changed;
  const alive = new Map(members.map((member) => [member.name, member]));
  const changes = new Map<string, Exception | null>();
  for (const { key, owner, since } of snapshot.apart.filter((each) => isForgiven(each, now)))
    changes.set(key, { owner, since });
  for (const key of snapshot.stale) changes.set(key, null);
  const wakes: number[] = [];

  const next = new Owners({ ...emptied(snapshot), members });
  const seats = new Map(snapshot.collectors.map((collector) => [collector.name, collector]));
  const isAway = (name: string) => (seats.get(name)?.awaySince ?? null) !== null;
  const isAlive = (name: string) => alive.has(name);
  const seatOf = (name: string) => seats.get(name);
  const steps = { pollOf: lastPolls(snapshot.polls), now, at, isAlive, seatOf };
  const candidates = candidatesOf(snapshot);
  let handingOver = 0;
  for (const handOver of snapshot.handOvers) {
    const step = handOverStep(handOver, steps);
    if (step.kind === "orphan") candidates.push({ ...handOver, isPinned: true });
    else changes.set(handOver.key, isNeedless(step, next.choice(placed(handOver, settings))) ? null : step.exception);
    if (step.kind !== "wait") continue;
    handingOver += 1;
    if (step.until !== null) wakes.push(step.until);
  }

  const isDead = ({ owner }: Candidate) => owner !== null && !alive.has(owner);
  const isSuspect = (row: Candidate) => isDead(row) && row.diedAt !== null && now - row.diedAt < SUSPICION;
  const present = presentMembers(members, isAway);
  const isPresent = new Set(present.map(({ name }) => name));
  // The targets of a collector that is away wait for it.
  const isKept = ({ owner }: Candidate) => owner !== null && alive.has(owner) && !isPresent.has(owner);
  const kept = candidates.filter(isKept);
  const suspected = new Set(candidates.filter(isSuspect));
  const mayKill = ({ owner }: Candidate) =>
    suspected.size <= MOST_SUSPECTS || seats.get(owner ?? "")?.hasCrashed === true;
  const suspects = new Set([...suspected].filter(mayKill));
  const rows = candidates.filter((row) => !suspects.has(row) && !isKept(row));
  const budget = { limit: settings.movesPerMinute ?? Infinity, window: MINUTE };
  const allowed =
    settings.movesPerMinute === null
      ? null
      : allowance({ ...budget, limit: settings.movesPerMinute }, memory.moves, now);
  const coolsUntil = memory.balancedAt === null ? now : Math.min(memory.balancedAt, now) + settings.cooldown;
  const isKnown = snapshot.loadFault === null && snapshot.targetCount !== null;
  // A collector that joins is idle until it gets its share: it does not wait for the cooldown.
  const mayLevel = coolsUntil <= now || changed.joined.length > 0;
  const options = { level: isKnown && mayLevel, limit: allowed?.remaining ?? Infinity };
  const fixed = new Map([...fixedLoads(snapshot, candidates)].filter(([name]) => isPresent.has(name)));
  const result = levelled(rows, { members: present, fixed, owners: next }, settings, options);

  const moves: Move[] = [];
  const joined = new Set(changed.joined);
  const placedRows = [
    ...rows.map((row, index) => ({ row, to: result.owners[index] ?? null })),
    ...kept.map((row) => ({ row, to: row.owner })),
  ];
  for (const { row, to } of placedRows) {
    const { key, owner: from } = row;
    const former = from === null ? undefined : alive.get(from);
    if (to === from) {
      if (to !== null && !row.isPinned && to !== next.choice(placed(row, settings)))
        changes.set(key, { owner: to, since: at });
      continue;
    }
    moves.push({ key, from, to, load: row.load, reason: reasonOf(row, former, alive.get(to ?? ""), settings, joined) });
    if (to === null) changes.set(key, null);
    else if (former === undefined) changes.set(key, placedOrphan(row, to, next.choice(placed(row, settings)), at, now));
    else {
      const gap = isGap(settings, row.job) && { gap: true };
      const died = row.diedAt !== null && { diedAt: row.diedAt };
      changes.set(key, { owner: to, from: former.name, ...gap, since: at, ...died });
      handingOver += 1;
    }
  }
  const spare = next.choice({ key: "set apart" }) ?? null;
  for (const { key, owner: from, load, diedAt } of suspects) {
    moves.push({ key, from, to: spare, load, reason: "SetApart" });
    changes.set(key, spare === null ? null : { owner: spare, since: at, diedAt: diedAt ?? now, apart: true });
  }

  const spent = moves.filter(({ reason }) => !isForced(reason)).length;
  const levels = moves.some(({ reason }) => reason !== "Leaving" && !isForced(reason));
  const uneven = unevenBy(result, isKnown ? (options.level ? null : "Cooldown") : "LoadUnknown", moves.length);
  if (uneven === "Cooldown") wakes.push(coolsUntil);
  if (uneven === "BudgetSpent" || allowed?.remaining === 0) wakes.push(allowed?.nextAt ?? Infinity);
  if (scale.fewerSince !== null) wakes.push(scale.fewerSince + WINDOW);
  for (const { awaySince, readySince } of snapshot.collectors) {
    if (awaySince !== null) wakes.push(awaySince + settings.seatGrace);
    else if (readySince !== undefined) wakes.push(readySince + JOIN_AFTER);
  }
  const later = wakes.filter((wake) => wake > now && wake < Infinity);
  return {
    ...{
      membership: changed,
      scale,
      replicas: replicasFor(scale.wanted, members, snapshot),
      partition: restartPartition(snapshot, isAlive),
      moves,
      changes,
      handingOver,
    },
    drained: snapshot.drain.filter((name) => !alive.has(name)),
    large: result.large.map((row) => rows[row]?.key ?? ""),
    uneven,
    memory: {
      // A time to come means that the clock has jumped back: it must not stop balancing for long.
      balancedAt: levels ? now : memory.balancedAt && Math.min(memory.balancedAt, now),
      moves: allowed === null ? [] : [...allowed.history, ...new Array<number>(spent).fill(now)],
      fewerSince: scale.fewerSince,
    },
    wakeAt: later.length === 0 ? null : later.reduce((first, wake) => Math.min(first, wake)),
  };
}

/**
 * Members that targets may be given to, and those that leave. If all are away, it is more likely that the view is
 * wrong.
 */
function presentMembers(members: readonly Member[], isAway: (name: string) => boolean): readonly Member[] {
  const present = members.filter(({ name, leaving }) => leaving === true || !isAway(name));
  return present.some(({ leaving }) => leaving !== true) ? present : members;
}

function lastPolls(polls: FleetSnapshot["polls"]): StepTerms["pollOf"] {
  const last = new Map<string, Poll>();
  for (const poll of polls) {
    const id = `${poll.collector} ${poll.job}`;
    if (poll.seen >= (last.get(id)?.seen ?? 0)) last.set(id, poll);
  }
  return (collector, job) => last.get(`${collector} ${job}`);
}

/** Whether the target is with its rendezvous owner after a hand-over, which needs no exception. */
function isNeedless(step: Exclude<Step, { kind: "orphan" }>, choice: string | undefined): boolean {
  return step.kind === "done" && step.exception.owner === choice && step.exception.diedAt === undefined;
}

interface Candidate extends Row {
  readonly job: string;
  readonly diedAt: number | null;
  /** An exception says who owns it. */
  readonly isPinned: boolean;
}

function candidatesOf({ targets, members, jobs, pools }: FleetSnapshot): Candidate[] {
  return targets.key.map((key, row) => ({
    key,
    load: targets.load[row] as number,
    job: jobs[targets.job[row] as number] as string,
    owner: members[targets.owner[row] as number]?.name ?? null,
    pool: pools[targets.pool[row] as number] ?? null,
    diedAt: targets.diedAt[row] === -1 ? null : (targets.diedAt[row] as number),
    isPinned: targets.pinned[row] === 1,
  }));
}

/** Load of members without the candidates; rounding must not make it negative. */
function fixedLoads({ members }: FleetSnapshot, candidates: readonly Candidate[]): Map<string, number> {
  const loads = new Map(members.map(({ name, load }) => [name, load]));
  for (const { owner, load } of candidates) if (owner !== null) loads.set(owner, (loads.get(owner) ?? 0) - load);
  return new Map([...loads].map(([name, load]) => [name, load < 1e-6 ? 0 : load]));
}

function placed({ key, pool }: Pick<Row, "key" | "pool">, settings: FleetSnapshot["settings"]) {
  return { key, ...(pool !== null && settings.pool !== "none" && { [settings.pool]: pool }) };
}

/** A death is remembered for a while, so that a target which kills its collectors is found. */
function placedOrphan(
  row: Candidate,
  to: string,
  choice: string | undefined,
  at: number,
  now: number,
): Exception | null {
  if (row.owner !== null) return { owner: to, since: at, diedAt: now };
  return to === choice ? null : { owner: to, since: at };
}

function reasonOf(
  { owner, pool }: Candidate,
  former: Member | undefined,
  to: Member | undefined,
  settings: FleetSnapshot["settings"],
  joined: ReadonlySet<string>,
): Move["reason"] {
  if (owner === null) return "New";
  if (former === undefined) return "Orphaned";
  if (former.leaving === true) return "Leaving";
  if (pool !== null && to !== undefined) {
    const [was, is] = [poolOf(former, settings.pool) === pool, poolOf(to, settings.pool) === pool];
    if (was !== is) return is ? "BackInPool" : "LeftPool";
  }
  return to !== undefined && joined.has(to.name) ? "Joined" : "OutOfBand";
}

/** Targets that nobody has must go somewhere: they count in no budget. */
function isForced(reason: Move["reason"]): boolean {
  return reason === "New" || reason === "Orphaned" || reason === "SetApart";
}

function unevenBy(
  { isOutside, isCut }: Levelled,
  obstacle: "Cooldown" | "LoadUnknown" | null,
  moves: number,
): FleetPlan["uneven"] {
  if (isCut) return "BudgetSpent";
  if (!isOutside) return null;
  return obstacle ?? (moves === 0 ? "AsLevelAsItGets" : null);
}

function isGap({ handOver, handOverJobs }: FleetSnapshot["settings"], job: string): boolean {
  return handOver === "gap" && (handOverJobs === null || handOverJobs.includes(job));
}

/** The set shrinks only when the collectors beyond it have handed their targets over. */
function replicasFor(wanted: number | null, members: readonly Member[], snapshot: FleetSnapshot): number | null {
  if (wanted === null) return null;
  const names = new Set(members.map(({ name }) => name));
  const needed = snapshot.collectors.filter(({ name }) => names.has(name)).map(({ ordinal }) => ordinal + 1);
  return Math.max(wanted, Math.min(snapshot.scale.present, Math.max(0, ...needed)));
}

function emptied({ settings, memory }: FleetSnapshot): Assignments {
  return { at: 0, members: [], pool: settings.pool, fallback: settings.fallback, exceptions: new Map(), memory };
}
