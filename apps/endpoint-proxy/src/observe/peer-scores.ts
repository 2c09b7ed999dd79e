import { CLUSTER_SCORE, type ClusterScoreSpec, type ClusterScoreStatus, parseClusterScore } from "@evenkeel/api";
import { type Clock, CodedError, explain } from "@evenkeel/runtime";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import type { PeerReading, PeerScore } from "../decide/snapshot.ts";
import type { Identity } from "../gateway/identity.ts";
import type { Member } from "../members/member.ts";
import type { MemberAnswer, MemberClient } from "../members/member-client.ts";
import { ownClusterScore } from "../members/own-member.ts";

/** What asking a peer gave, with what the status alone says. */
export interface PeerAnswer {
  readonly reading: PeerReading | null;
  /** Milliseconds. */
  readonly latency: number | null;
  readonly clusterUid: string | null;
  readonly serverVersion: string | null;
  readonly region: string | null;
}

export const NOTHING_ASKED: PeerAnswer = {
  reading: null,
  latency: null,
  clusterUid: null,
  serverVersion: null,
  region: null,
};

/** As whom proxies ask each other for scores. The chart grants the group what they read. */
export const PROXY_IDENTITY: Identity = {
  user: "evenkeel:endpoint-proxy",
  uid: undefined,
  groups: ["evenkeel:endpoint-proxies"],
  extra: {},
};

export interface PeerScoresOptions {
  readonly client: MemberClient;
  readonly member: (name: string) => Member | undefined;
  readonly clock: Clock;
  /** Milliseconds until a peer must have answered. */
  readonly deadline: number;
}

interface Sighting {
  readonly timestamp: string;
  readonly score: PeerScore;
  /** When this process saw that timestamp for the first time, on its monotonic clock. */
  readonly at: number;
}

/** Bytes of the largest answer: some hundred ClusterScores with their nodes. */
const LARGEST = 16 * 1024 * 1024;

/** Characters of what a peer says that are passed on. */
const LONGEST = 500;

/** The value of a label, which a region becomes. */
const LABEL_VALUE = /^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;

/** Seconds. A score that is older is as unusable as one of this age. */
const OLDEST = 7 * 86_400;

type Fault = NonNullable<PeerReading["fault"]>;

/** Asks peers for the score of their own cluster. Scores age from when they were seen to change: clocks may differ. */
export class PeerScores {
  readonly #options: PeerScoresOptions;
  readonly #sightings = new Map<string, Sighting>();

  constructor(options: PeerScoresOptions) {
    this.#options = options;
  }

  async ask(object: StoredClusterScore, signal: AbortSignal): Promise<PeerAnswer> {
    const { client, member: memberOf, clock, deadline } = this.#options;
    const { namespace = "", name = "", uid = "" } = object.metadata;
    const member = memberOf(name);
    if (member === undefined) return NOTHING_ASKED;
    const { group, version, plural } = CLUSTER_SCORE;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
    const started = clock.monotonic();
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(deadline)]);
      const answer = await client.ask(member, PROXY_IDENTITY, {
        ...{ method: "GET", path, accept: "application/json", signal: within, deadline },
      });
      const text = await answer.read(LARGEST);
      const latency = Math.round(clock.monotonic() - started);
      const fault = faultOf(answer, text);
      if (fault !== undefined) return { ...NOTHING_ASKED, latency, reading: this.#failed(uid, fault, true) };
      return { ...this.#answered(uid, text), latency };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof CodedError ? error.message : explain(error);
      const fault = { reason: "Unreachable", message: `The peer does not answer: ${message}` } as const;
      return { ...NOTHING_ASKED, reading: this.#failed(uid, fault, false) };
    }
  }

  forget(uid: string): void {
    this.#sightings.delete(uid);
  }

  endTerm(): void {
    this.#sightings.clear();
  }

  #answered(uid: string, text: Buffer): Omit<PeerAnswer, "latency"> {
    const object = ownClusterScore(itemsOf(text));
    const parsed = parseClusterScore(object);
    if (object === undefined || !parsed.ok) {
      const fault = { reason: "NoScore", message: "The peer has no ClusterScore of its own cluster yet" } as const;
      return { ...NOTHING_ASKED, reading: this.#failed(uid, fault, true) };
    }
    const { spec, status = {} } = parsed.value as { spec: ClusterScoreSpec; status?: ClusterScoreStatus };
    const about = {
      clusterUid: status.clusterUid ?? null,
      serverVersion: status.serverVersion ?? null,
      region: spec.region !== undefined && LABEL_VALUE.test(spec.region) ? spec.region : null,
    };
    if ((status.score ?? 0) <= 0) {
      const fault = { reason: "NoScore", message: "The peer has no score of its own cluster" } as const;
      return { ...about, reading: this.#failed(uid, fault, true) };
    }
    const score = this.#sight(uid, status);
    return { ...about, reading: { answered: true, fault: null, score } };
  }

  /** The original says no time: each answer is then taken for a new score. */
  #sight(uid: string, status: ClusterScoreStatus): PeerScore {
    const now = this.#options.clock.monotonic();
    const { updateTimestamp: timestamp = String(now) } = status;
    const before = this.#sightings.get(uid);
    const at = before?.timestamp === timestamp ? before.at : now - ageOf(status) * 1000;
    const score: PeerScore = {
      ...{ source: status.source ?? "watts", score: status.score ?? 0, cost: status.cost ?? 0 },
      ...{ nodes: status.nodes ?? [], failedNodes: status.failedNodes ?? null },
      ...{ free: status.free ?? null, whole: status.whole ?? null, marginalWatts: status.marginalWatts ?? null },
      ...{ serverVersion: status.serverVersion ?? null, age: Math.round(now - at) },
    };
    this.#sightings.set(uid, { timestamp, score, at });
    return score;
  }

  /** Without an answer the last score ages; an answer without a score ends it. */
  #failed(uid: string, fault: Fault, answered: boolean): PeerReading {
    const last = answered ? undefined : this.#sightings.get(uid);
    if (answered) this.#sightings.delete(uid);
    const score = last ? { ...last.score, age: Math.round(this.#options.clock.monotonic() - last.at) } : null;
    return { answered, fault, score };
  }
}

function ageOf({ ageSeconds = 0 }: ClusterScoreStatus): number {
  return Math.min(OLDEST, Math.max(0, ageSeconds));
}

function faultOf({ status }: MemberAnswer, text: Buffer): Fault | undefined {
  if (status === 200) return undefined;
  const said = `The peer answered ${status}: ${messageOf(text)}`;
  if (status === 508) return { reason: "Duplicate", message: `${said}; set spec.endpoint to another cluster's PORT2` };
  if (status === 401 || status === 403) return { reason: "Refused", message: said };
  if (status === 404) return { reason: "NoScore", message: `${said}; endpoint-proxy is not installed there` };
  return { reason: "Unreachable", message: said };
}

function messageOf(text: Buffer): string {
  try {
    const { message } = JSON.parse(text.toString()) as { message?: unknown };
    return typeof message === "string" ? message.slice(0, LONGEST) : "";
  } catch {
    return "";
  }
}

function itemsOf(text: Buffer): readonly StoredClusterScore[] {
  const { items } = JSON.parse(text.toString()) as { items?: readonly StoredClusterScore[] };
  return (items ?? []).map((item) => {
    // Items of a list may have no kind of their own.
    const { group, version, kind } = CLUSTER_SCORE;
    return { apiVersion: `${group}/${version}`, kind, ...item };
  });
}
