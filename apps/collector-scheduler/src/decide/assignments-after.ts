import type { Assignments, Exception } from "./assignments.ts";
import type { FleetPlan } from "./plan.ts";
import type { FleetSnapshot } from "./snapshot.ts";

/** What is in force after the plan; the very same object if nothing changes, and then nothing needs to be recorded. */
export function assignmentsAfter(before: Assignments, snapshot: FleetSnapshot, plan: FleetPlan): Assignments {
  const { pool, fallback } = snapshot.settings;
  const { members } = plan.membership;
  const { memory } = plan;
  let isChanged =
    JSON.stringify([before.pool, before.fallback, before.members, before.memory]) !==
    JSON.stringify([pool, fallback, members, memory]);
  const exceptions = new Map(before.exceptions);
  for (const [key, exception] of plan.changes) {
    if (isEqual(exceptions.get(key) ?? null, exception)) continue;
    isChanged = true;
    if (exception === null) exceptions.delete(key);
    else exceptions.set(key, exception);
  }
  if (!isChanged) return before;
  return { at: Math.max(Date.parse(snapshot.at), before.at + 1), members, pool, fallback, exceptions, memory };
}

/**
 * What is in force where nothing new may begin: hand-overs that were begun go on, or a gap would leave its targets to
 * nobody. Members stay as they are, so the plan's rendezvous owners say nothing: each target keeps an exception.
 */
export function handOversAfter(before: Assignments, snapshot: FleetSnapshot, plan: FleetPlan): Assignments {
  const isAlive = (name: string) => plan.membership.members.some((member) => member.name === name);
  const begun = snapshot.handOvers.filter(({ owner, from }) => isAlive(owner) || isAlive(from));
  const changes = new Map(begun.map(({ key, owner, since }) => [key, plan.changes.get(key) ?? { owner, since }]));
  const { pool, fallback, members, memory } = before;
  const settings = { ...snapshot.settings, pool, fallback };
  return assignmentsAfter(
    before,
    { ...snapshot, settings },
    { ...plan, changes, memory, membership: { ...plan.membership, members } },
  );
}

function isEqual(a: Exception | null, b: Exception | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.owner === b.owner &&
    a.from === b.from &&
    a.gap === b.gap &&
    a.since === b.since &&
    a.seenAt === b.seenAt &&
    a.diedAt === b.diedAt &&
    a.apart === b.apart
  );
}
