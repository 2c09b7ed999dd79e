import type { Decider, Verdict } from "@evenkeel/runtime";
import { apportion, type Placement, type Share } from "@evenkeel/scoring";
import { type Part, type PartReason, partsOf, sentenceOf } from "./split-parts.ts";
import type { SplitMember, SplitSnapshot } from "./split-snapshot.ts";
import { roomFor, type Weights, weightsOf } from "./split-weights.ts";

const ACTIONS = ["split", "keep"] as const;

/** Why replicas are where they are. The same words are metric labels, Event reasons and what the dashboard shows. */
const REASONS = [
  /** Divided by weights, within the room that there is. */
  "Divided",
  /** As many as before: nothing moves, whatever the scores. */
  "Unchanged",
  /** Some fit nowhere. They are placed in proportion all the same, and wait as pending pods. */
  "Unplaced",
  /** No cluster may get anything new: the own cluster gets all. */
  "OwnAlone",
  /** Clusters that cannot be reached hold more than was asked for in all. */
  "HeldElsewhere",
  /** Each cluster runs the whole number. */
  "Whole",
] as const;

export type SplitVerdict = Verdict<(typeof ACTIONS)[number], (typeof REASONS)[number], readonly Part[]>;

/**
 * Divides the replicas of a workload over the clusters. The parts add up to the total (but for `divide: all`, and for
 * HeldElsewhere). A scale-up takes from no cluster, a scale-down adds to none, and the same total moves nothing,
 * unless the policy has changed.
 * A cluster that cannot be reached keeps what it holds. Clusters that are not Ready get nothing new, and on a
 * scale-down they lose in proportion to what they hold.
 */
function decide(given: SplitSnapshot): SplitVerdict {
  const snapshot = given.anew === true ? released(given) : given;
  const { total, members, policy } = snapshot;
  const held = placement(members, ({ held }) => held);
  const allowed = members.filter((member) => isAllowed(snapshot, member));
  const verdict = (reason: SplitVerdict["reason"], after: Placement, weights?: Weights): SplitVerdict => {
    const parts = partsOf(snapshot, after, weights);
    return {
      object: { kind: snapshot.kind, namespace: snapshot.namespace, name: snapshot.name },
      action: given.members.every(({ name, held }) => after[name] === held) ? "keep" : "split",
      reason,
      before: given.members.map(({ name, held }) => ({ cluster: name, replicas: held, reason: "Kept", note: "" })),
      after: parts,
      message: sentenceOf(snapshot, reason, parts),
      dryRun: snapshot.dryRun,
    };
  };
  if (policy.divide === "all")
    return verdict(
      "Whole",
      placement(members, (one) => whole(one, allowed, total)),
    );
  if (sum(held) === total && total > 0) return verdict("Unchanged", held);
  if (sum(held) > total) return lower(snapshot, verdict);

  const takers = allowed.filter(({ name, standing }) => standing === "Ready" && isWeighted(policy, name));
  const [fallback] = takers.length > 0 ? takers : [...allowed, ...members].filter(isReachable);
  const reason = takers.length > 0 ? "Divided" : "OwnAlone";
  const receiving = takers.length > 0 ? takers : fallback === undefined ? [] : [fallback];
  if (receiving.length === 0) return verdict("Unplaced", held);
  const weights = weightsOf(snapshot, receiving);
  const roomy = raised(snapshot, receiving, weights, (member) =>
    reason === "OwnAlone" ? total : member.held + roomFor(snapshot, member),
  );
  if (roomy.unplaced === 0) return verdict(reason, roomy.parts, weights);
  const shares = members.map(({ name }): Share => {
    const minimum = roomy.parts[name] ?? 0;
    const isReceiving = receiving.some((one) => one.name === name);
    return { name, minimum, weight: weights.of.get(name) ?? 0, ...(isReceiving ? {} : { cap: minimum }) };
  });
  const placed = apportion(total, shares, roomy.parts);
  return verdict("Unplaced", placed.parts, weights);
}

/** As if Ready clusters held none, and had the room of what they hold. */
function released(snapshot: SplitSnapshot): SplitSnapshot {
  const { cpu, memory } = snapshot.requests;
  const members = snapshot.members.map((member): SplitMember => {
    const { standing, held, score } = member;
    if (standing !== "Ready") return member;
    const free = score?.free && {
      ...{ cpu: score.free.cpu + held * cpu, memory: score.free.memory + held * memory },
      pods: score.free.pods + held,
    };
    return { ...member, held: 0, score: score && { ...score, free: free ?? null } };
  });
  return { ...snapshot, members };
}

/**
 * More than before: every cluster keeps what it holds, and the rest goes to `receiving`, to reach their minimums first.
 */
function raised(
  { total, members, policy }: SplitSnapshot,
  receiving: readonly SplitMember[],
  weights: Weights,
  capOf: (member: SplitMember) => number,
): { readonly parts: Placement; readonly unplaced: number } {
  let spare = total - members.reduce((all, { held }) => all + held, 0);
  const ordered = inOrder(policy.include, members);
  const reserved = new Map(ordered.map(({ name, held }) => [name, held]));
  const capIn = (member: SplitMember): number =>
    receiving.includes(member) ? Math.min(total, capOf(member)) : member.held;
  const reserve = (wanted: (name: string) => number): void => {
    for (const member of ordered) {
      const present = reserved.get(member.name) ?? 0;
      const more = Math.min(spare, Math.max(0, Math.min(capIn(member), wanted(member.name)) - present));
      reserved.set(member.name, present + more);
      spare -= more;
    }
  };
  reserve((name) => policy.minimum[name] ?? 0);
  if (policy.divide === "overflow") reserve(() => total);
  const shares = ordered.map((member): Share => {
    const weight = receiving.includes(member) ? (weights.of.get(member.name) ?? 0) : 0;
    return { name: member.name, weight, minimum: reserved.get(member.name) ?? 0, cap: capIn(member) };
  });
  return apportion(
    total,
    shares,
    placement(members, ({ held }) => held),
  );
}

/**
 * Fewer than before: no cluster gets more than it holds. Those that may run pods keep their minimums, while there is
 * enough for all minimums.
 */
function lower(
  snapshot: SplitSnapshot,
  verdict: (reason: SplitVerdict["reason"], after: Placement, weights?: Weights) => SplitVerdict,
): SplitVerdict {
  const { total, members, policy } = snapshot;
  const kept = members.filter((member) => !isReachable(member));
  const left = total - kept.reduce((all, { held }) => all + held, 0);
  if (left < 0)
    return verdict(
      "HeldElsewhere",
      placement(members, (one) => (kept.includes(one) ? one.held : 0)),
    );
  const others = members.filter(isReachable);
  const keptParts = placement(kept, ({ held }) => held);
  const minimums = placement(others, (one) =>
    isAllowed(snapshot, one) ? Math.min(one.held, policy.minimum[one.name] ?? 0) : 0,
  );
  const least = sum(minimums) <= left ? minimums : {};
  if (policy.divide === "overflow")
    return verdict("Divided", { ...keptParts, ...takenFromTheLast(left, snapshot, least) });

  const proportional = apportion(
    left,
    others.map(({ name, held }) => ({ name, weight: held, minimum: least[name] ?? 0, cap: held })),
  ).parts;
  const weighted = others.filter((one) => one.standing === "Ready" && isAllowed(snapshot, one));
  const weights = weightsOf(snapshot, weighted);
  const shares = others.map((member): Share => {
    const { name, held } = member;
    const fixed = proportional[name] ?? 0;
    const minimum = least[name] ?? 0;
    if (weighted.includes(member)) return { name, weight: weights.of.get(name) ?? 0, minimum, cap: held };
    if (!isAllowed(snapshot, member)) return { name, weight: 0, cap: held };
    return { name, weight: 0, minimum: fixed, cap: fixed };
  });
  const { parts, unplaced } = apportion(
    left,
    shares,
    placement(others, ({ held }) => held),
  );
  if (unplaced === 0) return verdict("Divided", { ...keptParts, ...parts }, weights);
  return verdict("Divided", { ...keptParts, ...proportional }, weights);
}

function takenFromTheLast(total: number, { members, policy }: SplitSnapshot, least: Placement): Placement {
  let spare = total - sum(least);
  const parts = inOrder(policy.include, members.filter(isReachable)).map(({ name, held }) => {
    const minimum = least[name] ?? 0;
    const more = Math.min(held - minimum, spare);
    spare -= more;
    return [name, minimum + more] as const;
  });
  return Object.fromEntries(parts);
}

/** Where no cluster is Ready, the first that can be reached gets the whole number. */
function whole(member: SplitMember, allowed: readonly SplitMember[], total: number): number {
  if (!isReachable(member) || member.standing === "Duplicate") return member.held;
  if (!allowed.includes(member)) return 0;
  const takes = allowed.find(({ standing }) => standing === "Ready") ?? allowed.find(isReachable);
  return member.standing === "Ready" || member === takes ? total : Math.min(member.held, total);
}

function isAllowed({ policy: { include, exclude } }: SplitSnapshot, { name, standing }: SplitMember): boolean {
  return standing !== "Duplicate" && (include?.includes(name) ?? true) && !exclude.includes(name);
}

/** With `evenkeel.io/cluster-weights`, a cluster that it does not name gets nothing new. */
function isWeighted({ weights }: SplitSnapshot["policy"], name: string): boolean {
  return weights === null || (weights[name] ?? 0) > 0;
}

function isReachable({ standing }: SplitMember): boolean {
  return standing !== "Unreachable";
}

/** Those of the list first, in its order. */
function inOrder(include: readonly string[] | null, members: readonly SplitMember[]): readonly SplitMember[] {
  if (include === null) return members;
  const rank = ({ name }: SplitMember): number => (include.includes(name) ? include.indexOf(name) : include.length);
  return members.toSorted((a, b) => rank(a) - rank(b));
}

function placement(members: readonly SplitMember[], part: (member: SplitMember) => number): Placement {
  return Object.fromEntries(members.map((member) => [member.name, part(member)]));
}

function sum(parts: Placement): number {
  return Object.values(parts).reduce((all, part) => all + part, 0);
}

export const splitDecider = { actions: ACTIONS, reasons: REASONS, decide } satisfies Decider<SplitSnapshot>;
export type { Part, PartReason };
