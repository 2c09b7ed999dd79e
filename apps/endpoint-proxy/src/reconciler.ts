import { type ClusterScoreStatus, parseClusterScore } from "@evenkeel/api";
import {
  type ForeignLease,
  kubeErrors,
  type ObjectName,
  type ReconcileContext,
  type Resource,
  type Result,
  type StatusWriter,
} from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import { type Clock, type Decisions, toError } from "@evenkeel/runtime";
import type { OwnClusterScore } from "./act/own-cluster-score.ts";
import { type Finding, isUsable, statusAfter, statusAfterFailure } from "./act/status.ts";
import type { StoredClusterScore } from "./cluster-score-resource.ts";
import type { proxyDecider } from "./decide/proxy-decider.ts";
import { judgeMember } from "./decide/score-decider.ts";
import type { StoredMembers } from "./members/stored-members.ts";
import type { metrics } from "./metrics.ts";
import type { Observation, Observer } from "./observe/observer.ts";
import type { PeerScores } from "./observe/peer-scores.ts";
import type { ScoreBoard } from "./serve/score-view.ts";

export interface ScoreReconcilerOptions {
  readonly observer: Pick<Observer, "observe">;
  readonly members: Pick<StoredMembers, "own" | "get" | "comparison">;
  readonly own: Pick<OwnClusterScore, "naming">;
  readonly peers: Pick<PeerScores, "forget" | "endTerm"> | undefined;
  readonly original: Pick<ForeignLease, "live">;
  readonly clusterScores: Resource<StoredClusterScore>;
  readonly statuses: StatusWriter<StoredClusterScore, ClusterScoreStatus>;
  readonly decisions: Pick<Decisions<typeof proxyDecider>, "decide">;
  readonly board: ScoreBoard;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
  /** `--dry-run`: nothing is written. */
  readonly dryRun: boolean;
  /** FETCH_INTERVAL in milliseconds. */
  readonly interval: number;
}

/** Milliseconds that writing the status may take, after the interval in which everything is read. */
const WRITING = 10_000;

/** Milliseconds after which a peer that did not answer is asked again: writes are refused meanwhile. */
const RETRY_SILENT = 5_000;

/** Takes the score of one member: of the own cluster from its nodes, of a peer by asking it. */
export class ScoreReconciler implements Reconciler<StoredClusterScore> {
  readonly #options: ScoreReconcilerOptions;

  constructor(options: ScoreReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(object: StoredClusterScore, context: ObjectContext): Promise<Result | undefined> {
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const { observer, members, decisions, board, clock, interval } = this.#options;
    const started = clock.monotonic();
    const { name = "" } = object.metadata;
    const parsed = parseClusterScore(object);
    const observed = {
      object,
      spec: parsed.ok ? parsed.value.spec : undefined,
      invalid: parsed.ok ? null : parsed.errors.join("; "),
      own: members.own()?.name === name,
      before: members.get(name)?.standing ?? null,
    };
    const observation = await observer.observe(observed, context.signal);
    const { snapshot } = observation;
    const decision = decisions.decide(snapshot);
    board.show(object, decision);
    const isWritten = decision.reason !== "OriginalRuns" && !decision.dryRun;
    const present = parsed.ok ? parsed.value.spec.region : undefined;
    const regionRefusal = isWritten ? await this.#fillRegion(object, present, observation, context) : null;
    const finding = { ...this.#finding(observation, observed.own), regionRefusal };
    if (isWritten) await this.#write(object, finding, context);
    this.#measure(finding);
    const next = Math.max(0, started + interval - clock.monotonic());
    return { requeueAfter: finding.judged.standing === "Unreachable" ? Math.min(next, RETRY_SILENT) : next };
  }

  /** The original writes the status while it runs. */
  async failed(object: StoredClusterScore, error: unknown, { signal }: ReconcileContext): Promise<void> {
    const { original, statuses, clock, dryRun } = this.#options;
    if (dryRun || (await original.live()) !== null) return;
    const { generation = 0 } = object.metadata;
    await statuses.write(object, (status) => statusAfterFailure(status, error, generation, clock.now()), { signal });
  }

  forget(_name: ObjectName, uid: string): void {
    this.#options.peers?.forget(uid);
  }

  endTerm(): void {
    this.#options.peers?.endTerm();
  }

  deadline(): number {
    return this.#options.interval + WRITING;
  }

  #finding(observation: Observation, isOwn: boolean): Omit<Finding, "regionRefusal"> {
    const { members, own } = this.#options;
    const { snapshot, latency, serverVersion, clusterUid } = observation;
    const judged = judgeMember(snapshot);
    const isByCapacity = judged.score?.source === "watts" && members.comparison() === "capacity";
    return {
      ...{ snapshot, judged, latency, serverVersion, clusterUid },
      naming: isOwn ? own.naming() : null,
      note: isByCapacity ? "Members are compared by capacity, because not all have predicted watts" : "",
    };
  }

  /**
   * A peer's region is what its proxy says. Resolves with the error if it could not be written into the spec: then the
   * status says so, and the score of the peer is taken all the same. Rejects if there is no time left for that.
   */
  async #fillRegion(
    { metadata: { namespace, name = "" } }: StoredClusterScore,
    present: string | undefined,
    { region }: Observation,
    { checked, signal, log }: ObjectContext,
  ): Promise<Error | null> {
    if (region === null || region === "" || region === present) return null;
    const { clusterScores } = this.#options;
    const body = { spec: { region } };
    try {
      await checked(clusterScores).patch({ namespace, name }, { type: "merge", body }, { signal });
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof kubeErrors.ActOvertaken) throw error;
      log.warn({ error, region }, "the region of a peer was not written into its ClusterScore");
      return toError(error);
    }
  }

  async #write(object: StoredClusterScore, finding: Finding, { term }: ObjectContext): Promise<void> {
    const { statuses, clock } = this.#options;
    const next = (status: ClusterScoreStatus | undefined) =>
      statusAfter({ metadata: object.metadata, ...(status && { status }) }, finding, clock.now());
    await statuses.write(object, next, term);
  }

  #measure(finding: Finding): void {
    const { metrics } = this.#options;
    const { snapshot, judged, latency } = finding;
    const labels = { namespace: snapshot.namespace, name: snapshot.name };
    const score = isUsable(finding) ? judged.score : null;
    metrics.score.set(labels, score?.score ?? NaN);
    metrics.age.set(labels, score ? (snapshot.peer?.score?.age ?? 0) / 1000 : NaN);
    metrics.ready.set(labels, judged.standing === "Ready" ? 1 : 0);
    metrics.freeCpu.set(labels, score?.free ? score.free.cpu / 1000 : NaN);
    metrics.freeMemory.set(labels, score?.free?.memory ?? NaN);
    metrics.failedNodes.set(labels, score?.failedNodes ?? NaN);
    metrics.latency.set(labels, latency === null ? NaN : latency / 1000);
  }
}
