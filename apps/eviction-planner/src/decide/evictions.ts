import type { Plan } from "./answer.ts";
import { type ClusterSnapshot, NONE, type PlanMemory, POD, UNKNOWN } from "./snapshot.ts";

/** An eviction that was made, or may have been: it is recorded before the call. Times are milliseconds since the epoch. */
export interface Eviction {
  /** Of the evicted pod. */
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  /** The uids of its controller and of the workload that people know. */
  readonly owner: string;
  readonly workload: string;
  readonly from: string;
  readonly policy: string;
  readonly at: number;
  /** Where the replacement was expected. */
  readonly expected: readonly { readonly node: string; readonly probability: number }[];
  /** Milliseconds for which the workload is left alone on the node where it lands. */
  readonly backOff: number;
  /** The node of the ready replacement; null while there is none, empty if there will be none. */
  readonly landed: string | null;
  /** The uid of the replacement; empty without one. */
  readonly replacement: string;
}

export interface BackOff {
  /** The uid of the workload. */
  readonly owner: string;
  readonly node: string;
  readonly until: number;
  /** How often the workload returned to the node after an eviction. */
  readonly returns: number;
}

/** What the leader remembers of evictions. */
export interface EvictionRecord {
  readonly evictions: readonly Eviction[];
  readonly backOffs: readonly BackOff[];
  /** Of the last landings, whether each was on a node of its likely ones; the newest last. */
  readonly foreseen: readonly boolean[];
}

export const NO_EVICTIONS: EvictionRecord = { evictions: [], backOffs: [], foreseen: [] };

const MINUTE = 60_000;
const HOUR = 3_600_000;
/** A replacement that is not ready after this time stops evictions. */
export const READY_TIMEOUT = 10 * MINUTE;
/** Longest back-off, and how long an expired one is remembered. */
const DAY = 24 * HOUR;
/** Landings by which forecasts are judged, and how many of them must have been foreseen. */
const JUDGED = 50;
const TRUSTED = 0.7;
/** The likely nodes are the first that together have this probability. */
const LIKELY = 0.9;
/** The API server has times in whole seconds. */
const ROUNDING = 1000;

/**
 * Follows each eviction to its replacement: the ready pod of the same owner that started after it. A workload that came
 * back to its node is left alone there for a time that doubles with each return.
 */
export function followed(record: EvictionRecord, cluster: ClusterSnapshot, at: number): EvictionRecord {
  const claimed = new Set(record.evictions.map(({ replacement }) => replacement));
  const backOffs = new Map(record.backOffs.map((backOff) => [`${backOff.owner} ${backOff.node}`, backOff]));
  const foreseen = [...record.foreseen];
  const evictions = record.evictions.map((eviction): Eviction => {
    if (eviction.landed !== null) return eviction;
    const found = replacementOf(eviction, cluster, claimed);
    if (found === null) return eviction;
    claimed.add(found.replacement);
    if (found.landed === "") return { ...eviction, ...found };
    foreseen.push(likelyNodes(eviction).includes(found.landed));
    const key = `${eviction.workload} ${found.landed}`;
    const returns = found.landed === eviction.from ? (backOffs.get(key)?.returns ?? 0) + 1 : 0;
    const length = Math.min(DAY, eviction.backOff * 2 ** Math.max(0, returns - 1));
    backOffs.set(key, { owner: eviction.workload, node: found.landed, until: at + length, returns });
    return { ...eviction, ...found };
  });
  return {
    evictions: evictions.filter(({ at: evictedAt }) => at - evictedAt < HOUR),
    backOffs: [...backOffs.values()].filter(({ until }) => at - until < DAY),
    foreseen: foreseen.slice(-JUDGED),
  };
}

interface Replacement {
  readonly landed: string;
  readonly replacement: string;
}

/** Null while the replacement is not there. */
function replacementOf(
  { uid, owner, at }: Eviction,
  { owners, pods, nodes }: ClusterSnapshot,
  claimed: ReadonlySet<string>,
): Replacement | null {
  const row = owners.findIndex((each) => each.uid === owner);
  if (row === -1) return { landed: "", replacement: "" };
  let ready = 0;
  let found: Replacement | null = null;
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    if (pods.uid[pod] === uid) return null;
    const isGoing = ((pods.flags[pod] as number) & POD.terminating) !== 0;
    if (pods.owner[pod] !== row || isGoing || pods.readySince[pod] === UNKNOWN || pods.node[pod] === NONE) continue;
    ready += 1;
    const replacement = pods.uid[pod] ?? "";
    const isNew = (pods.startedAt[pod] as number) >= at - ROUNDING && !claimed.has(replacement);
    if (isNew) found = { landed: nodes[pods.node[pod] as number]?.name ?? "", replacement };
  }
  if (found !== null) return found;
  const wanted = owners[row]?.replicas ?? Infinity;
  return ready >= wanted ? { landed: "", replacement: "" } : null;
}

function likelyNodes({ expected }: Eviction): readonly string[] {
  let sum = 0;
  return expected.flatMap(({ node, probability }) => {
    const isLikely = sum < LIKELY;
    sum += probability;
    return isLikely ? [node] : [];
  });
}

/** What a plan must know of earlier evictions. `levels` is what the last plan of the policy left. */
export function memoryOf(
  { evictions, backOffs }: EvictionRecord,
  { slos, owners, pods }: ClusterSnapshot,
  levels: PlanMemory["levels"],
  at: number,
): PlanMemory {
  const within = (span: number) => evictions.filter(({ at: evictedAt }) => at - evictedAt < span);
  const lastHour = slos.map(({ namespace, name }) => {
    return [`${namespace}/${name}`, within(HOUR).filter((each) => each.namespace === namespace).length] as const;
  });
  const shapeOf = (owner: string): number => {
    const row = owners.findIndex(({ uid }) => uid === owner);
    for (let pod = 0; pod < pods.uid.length; pod += 1) if (pods.owner[pod] === row) return pods.shape[pod] as number;
    return NONE;
  };
  return {
    levels,
    lastMinute: within(MINUTE).length,
    lastHour: Object.fromEntries(lastHour),
    backOffs,
    inFlight: evictions
      .filter(({ landed }) => landed === null)
      .map(({ owner, from, expected }) => ({ owner, from, expected, shape: shapeOf(owner) })),
  };
}

/** Why nothing is evicted whatever the plan is; null if evictions may go on. */
export function reasonToStop(
  { evictions, foreseen }: EvictionRecord,
  at: number,
): { readonly reason: "ReplacementNotReady" | "LandingUntrusted"; readonly message: string } | null {
  const late = evictions.find(({ landed, at: evictedAt }) => landed === null && at - evictedAt > READY_TIMEOUT);
  if (late !== undefined) {
    const message = `The replacement of ${late.namespace}/${late.pod}, evicted from ${late.from}, is not ready after 10 minutes`;
    return { reason: "ReplacementNotReady", message };
  }
  if (isTrusted(foreseen)) return null;
  const count = foreseen.filter(Boolean).length;
  return {
    reason: "LandingUntrusted",
    message: `${count} of the last ${JUDGED} landings were foreseen; 35 are needed`,
  };
}

export function isTrusted(foreseen: readonly boolean[]): boolean {
  return foreseen.length < JUDGED || foreseen.filter(Boolean).length >= JUDGED * TRUSTED;
}

/** The record of a planned eviction, as it is before the call. */
export function evictionOf(
  { pod, owner, from, landings }: Plan["moves"][number],
  { owners }: ClusterSnapshot,
  about: Pick<Eviction, "policy" | "at" | "backOff">,
): Eviction {
  const workload = owners.find(({ uid }) => uid === owner)?.workload.uid ?? owner;
  return {
    ...{ uid: pod.uid, namespace: pod.namespace, pod: pod.name, owner, workload, from, expected: landings },
    ...{ ...about, landed: null, replacement: "" },
  };
}
