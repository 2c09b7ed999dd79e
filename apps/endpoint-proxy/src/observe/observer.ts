import type { ClusterScoreSpec } from "@evenkeel/api";
import { type ForeignLease, isPaused } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import type { Duplicate, ScoreSnapshot } from "../decide/snapshot.ts";
import type { Standing } from "../decide/standing.ts";
import { byAge } from "../members/own-member.ts";
import { costOf } from "../members/stored-members.ts";
import type { ClusterIdentity } from "./cluster-identity.ts";
import type { ClusterReader } from "./cluster-reader.ts";
import { NOTHING_ASKED, type PeerAnswer, type PeerScores } from "./peer-scores.ts";

export interface ObserverOptions {
  readonly cluster: Pick<ClusterReader, "read">;
  readonly identity: Pick<ClusterIdentity, "uid" | "version">;
  readonly peers: Pick<PeerScores, "ask"> | undefined;
  readonly original: Pick<ForeignLease, "live">;
  /** Every ClusterScore. */
  readonly objects: () => Iterable<StoredClusterScore>;
  readonly clock: Clock;
  /** Milliseconds after which a score is too old. */
  readonly limit: number;
}

/** A snapshot, and what the status says besides. */
export interface Observation extends Pick<PeerAnswer, "latency" | "clusterUid" | "serverVersion" | "region"> {
  readonly snapshot: ScoreSnapshot;
}

/** What a ClusterScore is to this process. */
export interface Observed {
  readonly object: StoredClusterScore;
  readonly spec: ClusterScoreSpec | undefined;
  readonly invalid: string | null;
  readonly own: boolean;
  readonly before: Standing | null;
}

/** Turns the outside world into a snapshot. What cannot be read is null in it. */
export class Observer {
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  async observe(observed: Observed, signal: AbortSignal): Promise<Observation> {
    const { cluster, identity, clock, limit, original: lease } = this.#options;
    const { object, spec, invalid, own, before } = observed;
    const { namespace = "", name = "", annotations } = object.metadata;
    const original = await lease.live();
    const about = {
      ...{ namespace, name, before, original, invalid, limit },
      at: new Date(clock.now()).toISOString(),
      paused: isPaused(object),
      cost: costOf(annotations) ?? null,
    };
    if (spec === undefined || original !== null) {
      return { ...NOTHING_ASKED, snapshot: { ...about, duplicate: null, cluster: null, peer: null } };
    }
    if (own) {
      const [reading, clusterUid, serverVersion] = await Promise.all([
        cluster.read(signal),
        identity.uid(signal),
        identity.version(signal),
      ]);
      const snapshot = { ...about, duplicate: null, cluster: reading, peer: null };
      return { snapshot, clusterUid, serverVersion, latency: null, region: null };
    }
    return this.#observePeer(about, observed, spec, signal);
  }

  async #observePeer(
    about: Omit<ScoreSnapshot, "duplicate" | "cluster" | "peer">,
    { object }: Observed,
    spec: ClusterScoreSpec,
    signal: AbortSignal,
  ): Promise<Observation> {
    const { identity, peers } = this.#options;
    if (spec.owncluster) {
      const message = "Another ClusterScore says owncluster and is older: delete this one";
      const duplicate = { reason: "OwnCluster", message } as const;
      return { ...NOTHING_ASKED, snapshot: { ...about, duplicate, cluster: null, peer: null } };
    }
    const [answer, ownUid] = await Promise.all([peers?.ask(object, signal) ?? NOTHING_ASKED, identity.uid(signal)]);
    const duplicate = this.#duplicate(object, answer.clusterUid, ownUid);
    return { ...answer, snapshot: { ...about, duplicate, cluster: null, peer: answer.reading } };
  }

  #duplicate(object: StoredClusterScore, uid: string | null, ownUid: string): Duplicate | null {
    const { name = "" } = object.metadata;
    const known = uid ?? object.status?.clusterUid ?? null;
    if (known === null || known === "") return null;
    if (known === ownUid) {
      return { reason: "OwnCluster", message: "The endpoint leads to this cluster itself: delete this ClusterScore" };
    }
    const first = Array.from(this.#options.objects())
      .filter(({ metadata, status }) => metadata.name === name || status?.clusterUid === known)
      .sort(byAge)[0];
    if (first === undefined || first.metadata.name === name) return null;
    const message = `ClusterScore ${first.metadata.name ?? ""} stands for the same cluster: delete one of the two`;
    return { reason: "ListedTwice", message };
  }
}
