import { type CallOptions, kubeErrors, Refusal } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { CodedError, explain, toError } from "@evenkeel/runtime";
import type { Plan } from "../decide/answer.ts";
import { type Eviction, evictionOf } from "../decide/evictions.ts";
import type { GoReason, GoSnapshot, GoVerdict, PeerAnswer } from "../decide/go.ts";
import type { PlanSnapshot } from "../decide/snapshot.ts";
import type { DrainedPod, DrainPeers } from "./drain-peers.ts";
import type { Ledger } from "./ledger.ts";

export type Move = Plan["moves"][number];

export interface WaveOptions {
  readonly ledger: Pick<Ledger, "spend" | "restamp" | "refund">;
  /** The go or no-go for a pod on the cluster as it is now, with the answers of peers. */
  readonly go: (
    move: Move,
    plan: PlanSnapshot,
    peers: readonly PeerAnswer[],
  ) => { verdict: GoVerdict; snapshot: GoSnapshot };
  /** Tells of a go or no-go. */
  readonly decided: (verdict: GoVerdict, snapshot: GoSnapshot) => void;
  readonly peers: Pick<DrainPeers, "prepare" | "stays" | "evicted">;
  /** Whether the move restarts the rollout of its Deployment instead of evicting the pod. */
  readonly isSurge: (move: Move, plan: PlanSnapshot) => boolean;
  /** Resolves when the disruption budget of the pod counts the eviction before it. */
  readonly settled: (move: Move) => Promise<void>;
  /** `call.beforeSend` is called before each attempt. */
  readonly evict: (pod: DrainedPod, move: Move, call: CallOptions) => Promise<void>;
  readonly surge: (move: Move, plan: PlanSnapshot, call: CallOptions) => Promise<void>;
  /** The time by which windows of budgets are counted, in milliseconds since the epoch. */
  readonly now: () => number;
}

export interface WaveResult {
  readonly evicted: readonly Move[];
  /** Moves that were not made, and why. `by` is a refusal that the next plan would not foresee. */
  readonly refused: readonly { readonly move: Move; readonly why: string; readonly by: string | null }[];
  /** Moves that may have been made. */
  readonly unclear: number;
  /** What ended the wave early. */
  readonly fault: Error | undefined;
}

/** Moves that are carried out at once. */
const LANES = 8;
/** Milliseconds between the record of an eviction and its answer that are not worth a write. */
const SOON = 1000;
/** Reasons that the next plan cannot know. */
const BY_PEERS: ReadonlySet<string> = new Set<GoReason>(["PeerRefused", "PeerWorking", "PeerAway"]);
/** The API server refused the eviction because of a disruption budget. */
export const BLOCKED = "EvictionBlocked";

/**
 * Makes the moves of a plan. Evictions under one disruption budget go one after another, so that they never race;
 * others go at the same time, so that one that waits holds up none of them. Each is recorded before its call. An answer
 * that leaves open whether the pod was evicted ends the wave, and its record stays.
 */
export async function runWave(
  { moves, likelyNodes }: Pick<Plan, "moves" | "likelyNodes">,
  snapshot: PlanSnapshot,
  backOff: number,
  options: WaveOptions,
  context: Pick<ObjectContext, "lastLook" | "signal" | "term">,
): Promise<WaveResult> {
  const wave = new Wave(snapshot, { backOff, likelyNodes }, options, context);
  const lanes = [...Map.groupBy(moves, laneOf).values()];
  const work = async (): Promise<void> => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) {
      for (const move of lane) if (wave.fault === undefined) await wave.make(move);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, lanes.length) }, work));
  return wave;
}

/** The disruption budget of a move, or its own pod. */
function laneOf({ pod, limits }: Move): string {
  return limits.find(({ code }) => code === "DisruptionBudget")?.by ?? pod.uid;
}

class Wave implements WaveResult {
  readonly evicted: Move[] = [];
  readonly refused: { move: Move; why: string; by: string | null }[] = [];
  unclear = 0;
  fault: Error | undefined;
  readonly #snapshot: PlanSnapshot;
  readonly #about: { readonly backOff: number; readonly likelyNodes: readonly string[] };
  readonly #options: WaveOptions;
  readonly #context: Pick<ObjectContext, "lastLook" | "signal" | "term">;

  constructor(
    snapshot: PlanSnapshot,
    about: { readonly backOff: number; readonly likelyNodes: readonly string[] },
    options: WaveOptions,
    context: Pick<ObjectContext, "lastLook" | "signal" | "term">,
  ) {
    this.#snapshot = snapshot;
    this.#about = about;
    this.#options = options;
    this.#context = context;
  }

  /** Never rejects. */
  async make(move: Move): Promise<void> {
    const { go, decided, peers, isSurge, settled } = this.#options;
    await settled(move);
    const before = go(move, this.#snapshot, []);
    if (!before.verdict.go) {
      this.#refuse(move, before);
      return;
    }
    if (isSurge(move, this.#snapshot)) {
      decided(before.verdict, before.snapshot);
      await this.#send(move, "surge");
      return;
    }
    if (!this.#isWanted()) return;
    const pod = { ...before.snapshot.pod };
    const answers = await peers.prepare(pod, this.#context.signal);
    // Peers may have taken a while.
    const now = go(move, this.#snapshot, answers);
    if (now.verdict.go && this.fault === undefined) {
      decided(now.verdict, now.snapshot);
      if (await this.#send(move, "evict")) {
        peers.evicted(pod);
        return;
      }
    } else if (!now.verdict.go) this.#refuse(move, now);
    await peers.stays(pod);
  }

  /** Whether the policy still asks for what was planned; if not, that ends the wave. */
  #isWanted(): boolean {
    try {
      this.#context.lastLook();
      return true;
    } catch (error) {
      this.fault ??= toError(error);
      return false;
    }
  }

  #refuse(move: Move, { verdict, snapshot }: { verdict: GoVerdict; snapshot: GoSnapshot }): void {
    this.#options.decided(verdict, snapshot);
    const by = BY_PEERS.has(verdict.reason) ? verdict.reason : null;
    this.refused.push({ move, why: verdict.message, by });
  }

  /** Whether the pod was evicted, or may have been. */
  async #send(move: Move, how: "evict" | "surge"): Promise<boolean> {
    const { ledger, now, evict, surge } = this.#options;
    const { lastLook, signal, term } = this.#context;
    const { policy, cluster, at: wave } = this.#snapshot;
    const { backOff, likelyNodes } = this.#about;
    const about = { policy: policy.name, at: now(), wave, backOff, ...(how === "surge" && { surge: true }) };
    const eviction = evictionOf(move, cluster, about);
    try {
      lastLook();
      await ledger.spend(eviction, likelyNodes, term);
    } catch (error) {
      this.fault = toError(error);
      return false;
    }
    let attempts = 0;
    const beforeSend = (): void => {
      lastLook();
      attempts += 1;
    };
    try {
      const { namespace, name, uid } = move.pod;
      const pod = { namespace, name, uid, node: move.from };
      const call = { signal, beforeSend };
      await (how === "evict" ? evict(pod, move, call) : surge(move, this.#snapshot, call));
      this.evicted.push(move);
    } catch (error) {
      // The patch of a surge is sent again if an answer is lost; an eviction is not.
      if (!isCertain(error) || (how === "surge" && attempts > 1)) {
        this.fault = toError(error);
        this.unclear += 1;
        await this.#restamp(eviction);
        return true;
      }
      await this.#refund(eviction);
      if (error instanceof kubeErrors.ActOvertaken) this.fault ??= error;
      else this.refused.push({ move, why: explain(error), by: codeOf(error) });
      return false;
    }
    await this.#restamp(eviction);
    return true;
  }

  /** The client may have waited and retried for a while, and the windows of budgets count from the eviction itself. */
  async #restamp(eviction: Eviction): Promise<void> {
    const at = this.#options.now();
    if (at - eviction.at < SOON) return;
    try {
      await this.#options.ledger.restamp(eviction, at, this.#context.term);
    } catch (error) {
      this.fault ??= toError(error);
    }
  }

  async #refund(eviction: Eviction): Promise<void> {
    try {
      await this.#options.ledger.refund(eviction, this.#context.term);
    } catch (error) {
      this.fault = toError(error);
    }
  }
}

function codeOf(error: unknown): string {
  if (error instanceof kubeErrors.EvictionBlocked) return BLOCKED;
  return error instanceof CodedError ? error.code : "Refused";
}

/** Whether the pod was not evicted for certain. */
function isCertain(error: unknown): boolean {
  // 408 says that the server gave up, not that nothing happened.
  if (error instanceof Refusal) return error.status >= 400 && error.status < 500 && error.status !== 408;
  return error instanceof kubeErrors.ActOvertaken || error instanceof kubeErrors.Unreachable;
}
