import { kubeErrors, type ObjectName } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { type Clock, explain, toError } from "@evenkeel/runtime";
import type { Plan } from "../decide/answer.ts";
import { type Eviction, evictionOf } from "../decide/evictions.ts";
import type { PlanSnapshot } from "../decide/snapshot.ts";
import type { ObservedPod } from "../observe/cluster/observed-pod.ts";
import type { Ledger } from "./ledger.ts";

export type Move = Plan["moves"][number];

export interface WaveOptions {
  readonly ledger: Pick<Ledger, "spend" | "refund">;
  /** The pod as the watch has it now. */
  readonly podNow: (key: string) => ObservedPod | undefined;
  readonly evict: (pod: ObjectName, uid: string, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  /** Milliseconds after which the rest of a plan is dropped. */
  readonly planTtl: number;
}

export interface WaveResult {
  readonly evicted: readonly Move[];
  /** Moves that were not made, and why. */
  readonly refused: readonly { readonly move: Move; readonly why: string }[];
  /** What ended the wave early. */
  readonly fault: Error | undefined;
}

/**
 * Makes the moves of a plan one after another, so that evictions under one disruption budget never race. Each is
 * recorded before its call. A refusal of one holds up none of the others; an answer that leaves open whether the pod
 * was evicted ends the wave, and its record stays.
 */
export async function runWave(
  { moves }: Pick<Plan, "moves">,
  { at: plannedAt, cluster, policy }: PlanSnapshot,
  backOff: number,
  { ledger, podNow, evict, clock, planTtl }: WaveOptions,
  { lastLook, signal, term }: Pick<ObjectContext, "lastLook" | "signal" | "term">,
): Promise<WaveResult> {
  const evicted: Move[] = [];
  const refused: { move: Move; why: string }[] = [];
  for (const move of moves) {
    if (clock.now() - plannedAt > planTtl) {
      refused.push({ move, why: "the plan is too old" });
      break;
    }
    const { namespace, name, uid } = move.pod;
    const pod = podNow(`${namespace}/${name}`);
    if (pod?.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined || pod.node !== move.from) {
      refused.push({ move, why: "the pod changed since the plan" });
      continue;
    }
    const eviction = evictionOf(move, cluster, { policy: policy.name, at: clock.now(), backOff });
    try {
      lastLook();
      await ledger.spend(eviction, term);
    } catch (error) {
      return { evicted, refused, fault: toError(error) };
    }
    try {
      lastLook();
      await evict({ namespace, name }, uid, signal);
      evicted.push(move);
    } catch (error) {
      const fault = isCertain(error) ? await refunded(eviction) : toError(error);
      if (fault !== undefined) return { evicted, refused, fault };
      if (error instanceof kubeErrors.ActOvertaken) return { evicted, refused, fault: error };
      refused.push({ move, why: explain(error) });
    }
  }
  return { evicted, refused, fault: undefined };

  /** The fault, if the record could not be taken back. */
  async function refunded(eviction: Eviction): Promise<Error | undefined> {
    try {
      await ledger.refund(eviction, term);
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }
}

/** Whether the pod was not evicted for certain. */
function isCertain(error: unknown): boolean {
  return [
    kubeErrors.ActOvertaken,
    kubeErrors.EvictionBlocked,
    kubeErrors.TooManyRequests,
    kubeErrors.NotFound,
    kubeErrors.Conflict,
    kubeErrors.Forbidden,
  ].some((refusal) => error instanceof refusal);
}
