import { type ClusterScoreStatus, parseClusterScore } from "@evenkeel/api";
import type { ObjectName, Resource, Result, StatusWriter } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import type { Clock, Decisions } from "@evenkeel/runtime";
import type { OwnClusterScore } from "./act/own-cluster-score.ts";
import { type Finding, isUsable, statusAfter } from "./act/status.ts";
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
  readonly clusterScores: Resource<StoredClusterScore>;
  readonly statuses: StatusWriter<StoredClusterScore, ClusterScoreStatus>;
  readonly decisions: Pick<Decisions<typeof proxyDecider>, "decide">;
  readonly board: ScoreBoard;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
  /** FETCH_INTERVAL in milliseconds. */
  readonly interval: number;
}

/** Milliseconds that writing the status may take, after the interval in which everything is read. */
const WRITING = 10_000;

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
    const finding = this.#finding(observation, observed.own);
    board.show(object, decision);
    if (decision.reason !== "OriginalRuns" && !decision.dryRun) {
      await this.#fillRegion(object, parsed.ok ? parsed.value.spec.region : undefined, observation, context);
      await this.#write(object, finding, context);
    }
    this.#measure(finding);
    return { requeueAfter: Math.max(0, started + interval - clock.monotonic()) };
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

  #finding(observation: Observation, isOwn: boolean): Finding {
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

  /** A peer's region is what its proxy says. */
  async #fillRegion(
    { metadata: { namespace, name = "" } }: StoredClusterScore,
    present: string | undefined,
    { region }: Observation,
    { checked, signal }: ObjectContext,
  ): Promise<void> {
    if (region === null || region === "" || region === present) return;
    const { clusterScores } = this.#options;
    await checked(clusterScores).patch({ namespace, name }, { type: "merge", body: { spec: { region } } }, { signal });
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
