import { parentPort, workerData } from "node:worker_threads";
import {
  type Comparison,
  compareWith,
  explainPod,
  type Plan,
  plan,
  type PodExplanation,
  type Price,
  pricesOf,
} from "../../decide/index.ts";
import { packAnswer } from "./packed-answer.ts";
import { type PackedSnapshot, unpackSnapshot } from "./packed-snapshot.ts";

/** What to find out besides the plan. Each takes a few plans more. */
export interface FurtherQuestions {
  /** Whether to find out what each constraint costs. */
  readonly prices: boolean;
  /** The band of descheduler's LowNodeUtilization to compare with, in percent; null for no comparison. */
  readonly band: number | null;
  /** A pod to explain, as `namespace/name`; null for none. */
  readonly pod?: string | null;
}

export interface Question extends FurtherQuestions {
  readonly snapshot: PackedSnapshot;
}

export interface Answer {
  readonly plan: Plan;
  readonly prices: readonly Price[];
  readonly comparison: Comparison | null;
  /** Null if no pod was asked about, or the cluster has no such pod. */
  readonly explanation: PodExplanation | null;
}

/** What a program does in a thread that `planInWorker` started. */
export function answerPlan(): void {
  const { snapshot: packed, prices, band, pod = null } = workerData as Question;
  const snapshot = unpackSnapshot(packed);
  const made = plan(snapshot);
  const answer: Answer = {
    plan: made,
    prices: prices ? pricesOf(snapshot, made) : [],
    comparison: band === null || made.sigma === null ? null : compareWith(snapshot, "low-node-utilization", band),
    explanation: pod === null ? null : explainPod(snapshot, made, pod),
  };
  parentPort?.postMessage(packAnswer(answer));
}
