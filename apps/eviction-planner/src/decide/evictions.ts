import type { Plan } from "./answer.ts";
import { likelyOnes } from "./likely-nodes.ts";
import { type ClusterSnapshot, NONE, type PlanMemory, POD, UNKNOWN } from "./snapshot.ts";

/**
 * An eviction that was made, or may have been: it is recorded before the call. Times are milliseconds since the epoch.
 */
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
  /** When it was recorded, if the answer came later: a replacement cannot have started before it. Absent: `at`. */
  readonly since?: number;
  /** When its plan was made, which names the wave; 0 in records of earlier versions. */
  readonly wave: number;
  /** Where the replacement was expected. */
  readonly expected: readonly { readonly node: string; readonly probability: number }[];
  /** Milliseconds for which the workload is left alone on the node where it lands. */
  readonly backOff: number;
  /** The node of the ready replacement; null while there is none, empty if there will be none. */
  readonly landed: string | null;
  /** The uid of the replacement; empty without one. */
  readonly replacement: string;
  /** When the evicted pod of a StatefulSet was last seen: its replacement starts only after it is gone. */
  readonly lastSeen: number;
  /** When the evicted pod was first seen to be gone. Absent while it is there. */
  readonly gone?: number;
  /** Whether the rollout was restarted: the old pod then stays until the new one is ready. */
  readonly surge?: boolean;
}

/** What a wave of a policy foretold. */
export interface Forecast {
  readonly policy: string;
  readonly at: number;
  readonly sigma: number;
  /** Until when nothing is evicted because it did not come true; null while that is not known. */
  readonly missedUntil: number | null;
}

/** Where the replacements of a wave were likely to land. */
export interface WaveForecast {
  readonly at: number;
  /** Null if these are too many to be kept: the landings are then not judged. */
  readonly nodes: readonly string[] | null;
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
  /** Since when too few of them were foreseen; null while enough are. */
  readonly untrustedSince: number | null;
  /** Of waves whose replacements are not all ready yet. */
  readonly waves: readonly WaveForecast[];
  /** Of each policy's last wave. */
  readonly forecasts: readonly Forecast[];
}

export const NO_EVICTIONS: EvictionRecord = {
  evictions: [],
  backOffs: [],
  foreseen: [],
  untrustedSince: null,
  waves: [],
  forecasts: [],
};

const MINUTE = 60_000;
const HOUR = 3_600_000;
/** A replacement that is not ready after this time stops evictions, until an hour after its eviction. */
export const READY_TIMEOUT = 10 * MINUTE;
/** Longest back-off, and how long an expired one is remembered. */
const DAY = 24 * HOUR;
/** Landings by which forecasts are judged, and how many of them may be on a node that was not foreseen: 30 %. */
const JUDGED = 50;
const MOST_UNFORESEEN = 15;
/** Annotation of a RebalancePolicy: a time. If trust in landings was lost before it, they are judged anew. */
export const TRUST_LANDINGS_SINCE = "rebalancer.dev/trust-landings-since";
/** The API server has times in whole seconds. */
const ROUNDING = 1000;
/**
 * Milliseconds after which an eviction whose pod is there unharmed was never made: the process died before its call.
 */
const NEVER_MADE = 2 * MINUTE;
/**
 * Nodes of a forecast that are kept, of one eviction and of all waves, so that an hour of evictions fits into one
 * record.
 */
const MOST_EXPECTED = 50;
const MOST_LIKELY = 8000;
/** Back-offs that are kept, those that last longest first, so that they fit too. */
const MOST_BACK_OFFS = 2000;
/** By how much σ may exceed its forecast, and when it is measured: usage needs a while to follow. */
const MARGIN = 0.05;
const SETTLING = 3 * MINUTE;

/**
 * Follows each eviction to its replacement: the ready pod of the same workload that started after it. A workload that
 * came back to its node is left alone there for a time that doubles with each return. An eviction is forgotten after an
 * hour, but not before it has its replacement, or its workload needs none.
 */
export function followed(stored: EvictionRecord, cluster: ClusterSnapshot, at: number): EvictionRecord {
  const record = withGone(notAhead(stored, at), cluster, at);
  const claimed = new Set(record.evictions.map(({ replacement }) => replacement));
  const backOffs = new Map(record.backOffs.map((backOff) => [`${backOff.owner} ${backOff.node}`, backOff]));
  const foreseen = [...record.foreseen];
  const evictions = record.evictions.map((eviction): Eviction => {
    if (eviction.landed !== null) return eviction;
    const found = replacementOf(eviction, cluster, claimed, at);
    const isOld = at - eviction.at >= HOUR;
    if (found === "waiting") return isOld ? { ...eviction, expected: [] } : eviction;
    if (found === "terminating") return { ...eviction, lastSeen: at };
    claimed.add(found.replacement);
    // Where it was expected is not needed any more, and would fill the record.
    if (found.landed === "") return { ...eviction, ...found, expected: [] };
    const likely = isOld ? null : likelyOf(eviction, record.waves);
    if (likely !== null) foreseen.push(likely.includes(found.landed));
    const key = `${eviction.workload} ${found.landed}`;
    const returns = found.landed === eviction.from ? (backOffs.get(key)?.returns ?? 0) + 1 : 0;
    const length = Math.min(DAY, eviction.backOff * 2 ** Math.max(0, returns - 1));
    backOffs.set(key, { owner: eviction.workload, node: found.landed, until: at + length, returns });
    return { ...eviction, ...found, expected: [] };
  });
  const underWay = new Set(evictions.filter((each) => isInFlight(each, at)).map(({ wave }) => wave));
  return {
    ...record,
    evictions: evictions.filter(({ at: evictedAt, landed }) => landed === null || at - evictedAt < HOUR),
    waves: record.waves.filter((wave) => underWay.has(wave.at)),
    // An expired one counts only for how often the workload returned.
    backOffs: [...backOffs.values()]
      .filter(({ until, returns }) => at - until < (returns === 0 ? 0 : DAY))
      .sort((one, other) => other.until - one.until)
      .slice(0, MOST_BACK_OFFS),
    foreseen: foreseen.slice(-JUDGED),
    untrustedSince: isTrusted(foreseen.slice(-JUDGED)) ? null : (record.untrustedSince ?? at),
  };
}

function withGone(record: EvictionRecord, { pods }: ClusterSnapshot, at: number): EvictionRecord {
  const unknown = new Set(record.evictions.flatMap(({ uid, gone }) => (gone === undefined ? [uid] : [])));
  if (unknown.size === 0) return record;
  for (const uid of pods.uid) unknown.delete(uid);
  return {
    ...record,
    evictions: record.evictions.map((each) => (unknown.has(each.uid) ? { ...each, gone: at } : each)),
  };
}

/** After an hour without a replacement an eviction holds only its own workload. */
function isInFlight({ landed, at: evictedAt }: Eviction, at: number): boolean {
  return landed === null && at - evictedAt < HOUR;
}

/**
 * The record without times to come: after the wall clock was set back, they would count for as long as it was ahead.
 */
function notAhead(record: EvictionRecord, at: number): EvictionRecord {
  const isAhead =
    record.evictions.some((each) => each.at > at) || record.backOffs.some(({ until }) => until > at + DAY);
  if (!isAhead) return record;
  const evictions = record.evictions.map((each) => {
    if (each.at <= at) return each;
    const { since = at, lastSeen, gone } = each;
    const past = { since: Math.min(since, at), lastSeen: Math.min(lastSeen, at) };
    return { ...each, at, ...past, ...(gone !== undefined && { gone: Math.min(gone, at) }) };
  });
  const backOffs = record.backOffs.map((each) => ({ ...each, until: Math.min(each.until, at + DAY) }));
  return { ...record, evictions, backOffs };
}

/**
 * Forgets how many landings were foreseen if somebody asked for that after trust was lost, so that the next ones are
 * judged anew. A time that is still to come does not count: it would forgive every loss until then.
 */
export function trustedAgain(record: EvictionRecord, since: number, at: number): EvictionRecord {
  const { untrustedSince } = record;
  if (untrustedSince === null || !(since > untrustedSince) || since > at) return record;
  return { ...record, foreseen: [], untrustedSince: null };
}

interface Replacement {
  readonly landed: string;
  readonly replacement: string;
}

const NO_REPLACEMENT: Replacement = { landed: "", replacement: "" };

/** `terminating` while a StatefulSet waits for the evicted pod to be gone. */
function replacementOf(
  { uid, workload, at: evictedAt, since = evictedAt, surge = false }: Eviction,
  { owners, pods, nodes }: ClusterSnapshot,
  claimed: ReadonlySet<string>,
  at: number,
): Replacement | "waiting" | "terminating" {
  // A rollout gives a Deployment another ReplicaSet; the workload stays the same.
  const rows = new Set(owners.flatMap((each, row) => (each.workload.uid === workload ? [row] : [])));
  const [row = NONE] = rows;
  if (row === NONE) return NO_REPLACEMENT;
  let ready = 0;
  let found: Replacement | null = null;
  let old: "gone" | "terminating" | "unharmed" = "gone";
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    if (!rows.has(pods.owner[pod] as number)) continue;
    const isGoing = ((pods.flags[pod] as number) & POD.terminating) !== 0;
    if (pods.uid[pod] === uid) old = isGoing ? "terminating" : "unharmed";
    if (isGoing || pods.readySince[pod] === UNKNOWN || pods.node[pod] === NONE) continue;
    ready += 1;
    const replacement = pods.uid[pod] ?? "";
    const isNew = (pods.startedAt[pod] as number) >= since - ROUNDING && !claimed.has(replacement);
    if (isNew && replacement !== uid) found = { landed: nodes[pods.node[pod] as number]?.name ?? "", replacement };
  }
  if (old === "unharmed") {
    const isRolledOut = surge && owners[row]?.rollout !== "steady";
    return at - evictedAt > NEVER_MADE && !isRolledOut ? NO_REPLACEMENT : "waiting";
  }
  if (found !== null) return found;
  if (old === "terminating") return owners[row]?.kind === "StatefulSet" ? "terminating" : "waiting";
  return ready >= (owners[row]?.replicas ?? Infinity) ? NO_REPLACEMENT : "waiting";
}

/** The nodes on which the landing of an eviction counts as foreseen; null if that cannot be judged. */
function likelyOf({ wave, expected }: Eviction, waves: readonly WaveForecast[]): readonly string[] | null {
  const forecast = waves.find(({ at }) => at === wave);
  return forecast === undefined ? likelyOnes(expected).map(({ node }) => node) : forecast.nodes;
}

/** The record with an eviction that is about to be made, and with the forecast of its wave. */
export function withEviction(record: EvictionRecord, eviction: Eviction, likely: readonly string[]): EvictionRecord {
  const isKnown = record.waves.some(({ at }) => at === eviction.wave);
  const kept = record.waves.reduce((sum, { nodes }) => sum + (nodes?.length ?? 0), 0);
  const forecast = { at: eviction.wave, nodes: kept + likely.length > MOST_LIKELY ? null : likely };
  return {
    ...record,
    evictions: [...record.evictions, eviction],
    waves: isKnown ? record.waves : [...record.waves, forecast],
  };
}

/** The forecast of a wave in which every move was made, in place of the policy's last one; null if one was not. */
export function withForecast(record: EvictionRecord, policy: string, forecast: Forecast | null): EvictionRecord {
  const others = record.forecasts.filter((each) => each.policy !== policy);
  return { ...record, forecasts: forecast === null ? others : [...others, forecast] };
}

/**
 * Compares the forecast of a policy's last wave with σ as it is now, once every replacement is ready and usage has
 * followed. If σ is above it by more than a margin, the policy evicts nothing for `backOff` milliseconds.
 */
export function judgedForecast(
  record: EvictionRecord,
  { policy, sigma, settles, backOff }: { policy: string; sigma: number | null; settles: boolean; backOff: number },
  at: number,
): EvictionRecord {
  const forecast = record.forecasts.find((each) => each.policy === policy);
  if (forecast === undefined) return record;
  if (forecast.missedUntil !== null) return forecast.missedUntil > at ? record : withForecast(record, policy, null);
  const isUnderWay = record.evictions.some((each) => each.policy === policy && isInFlight(each, at));
  if (isUnderWay || sigma === null || (settles && at - forecast.at < SETTLING)) return record;
  const missed = sigma > forecast.sigma + MARGIN;
  return withForecast(record, policy, missed ? { ...forecast, missedUntil: at + backOff } : null);
}

/** What a plan must know of earlier evictions. `left` is what the last plan of the policy left behind. */
export function memoryOf(
  { evictions, backOffs }: EvictionRecord,
  { slos, owners, pods }: ClusterSnapshot,
  left: Pick<PlanMemory, "levels" | "underWay">,
  at: number,
): PlanMemory {
  const within = (span: number) => evictions.filter(({ at: evictedAt }) => at - evictedAt < span);
  const lastHour = slos.map(({ namespace, name }) => {
    return [`${namespace}/${name}`, within(HOUR).filter((each) => each.namespace === namespace).length] as const;
  });
  const shapeOf = (owner: string): number => {
    const row = owners.findIndex(({ uid }) => uid === owner);
    if (row === -1) return NONE;
    for (let pod = 0; pod < pods.uid.length; pod += 1) if (pods.owner[pod] === row) return pods.shape[pod] as number;
    return NONE;
  };
  return {
    ...{ at, ...left },
    lastMinute: within(MINUTE).length,
    lastHour: Object.fromEntries(lastHour),
    backOffs,
    departures: within(HOUR).flatMap(({ from, gone }) => (gone === undefined ? [] : [{ node: from, at: gone }])),
    unreplaced: evictions
      .filter((each) => each.landed === null && !isInFlight(each, at))
      .map(({ workload }) => workload),
    inFlight: evictions
      .filter((each) => isInFlight(each, at))
      .map(({ owner, from, expected }) => ({ owner, from, expected, shape: shapeOf(owner) })),
  };
}

/** Why nothing is evicted whatever the plan is; null if evictions may go on. */
export function reasonToStop(
  { evictions, foreseen, forecasts }: EvictionRecord,
  policy: string,
  at: number,
): {
  readonly reason: "ReplacementNotReady" | "LandingUntrusted" | "ForecastMissed";
  readonly message: string;
} | null {
  const late = evictions.find((each) => isInFlight(each, at) && at - each.lastSeen > READY_TIMEOUT);
  if (late !== undefined) {
    const message = `The replacement of ${late.namespace}/${late.pod}, evicted from ${late.from}, is not ready after 10 minutes`;
    return { reason: "ReplacementNotReady", message };
  }
  const missed = forecasts.find((each) => each.policy === policy && (each.missedUntil ?? 0) > at);
  if (missed !== undefined && missed.missedUntil !== null) {
    const until = new Date(missed.missedUntil).toISOString();
    const message = `σ did not come down to ${missed.sigma.toFixed(4)} as foretold; nothing is evicted until ${until}`;
    return { reason: "ForecastMissed", message };
  }
  if (isTrusted(foreseen)) return null;
  const count = foreseen.filter(Boolean).length;
  return {
    reason: "LandingUntrusted",
    message: `${count} of the last ${foreseen.length} landings were foreseen; 35 of ${JUDGED} are needed. Find out why, then set ${TRUST_LANDINGS_SINCE} on a policy`,
  };
}

/** Trust ends before 50 landings were judged if those that are still to come cannot restore it. */
export function isTrusted(foreseen: readonly boolean[]): boolean {
  return foreseen.filter((isForeseen) => !isForeseen).length <= MOST_UNFORESEEN;
}

/** The record of a planned eviction, as it is before the call. */
export function evictionOf(
  { pod, owner, from, landings }: Plan["moves"][number],
  { owners }: ClusterSnapshot,
  about: Pick<Eviction, "policy" | "at" | "wave" | "backOff" | "surge">,
): Eviction {
  const workload = owners.find(({ uid }) => uid === owner)?.workload.uid ?? owner;
  return {
    ...{ uid: pod.uid, namespace: pod.namespace, pod: pod.name, owner, workload, from },
    ...{ ...about, landed: null, replacement: "", lastSeen: about.at },
    expected: likelyOnes(landings).slice(0, MOST_EXPECTED),
  };
}
