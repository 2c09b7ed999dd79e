import type { Binding } from "../binding.ts";
import type { ActOptions } from "./act-options.ts";
import type { Autoscalers } from "./autoscalers.ts";
import type { Scales } from "./scales.ts";

/** A workload, how many replicas it wakes with, and the autoscaler that is paused while it sleeps. */
export type Workload = Pick<Binding, "namespace" | "target" | "minReplicas" | "autoscaler">;

export interface WorkloadClients {
  readonly scales: Pick<Scales, "wake">;
  readonly autoscalers: Pick<Autoscalers, "resume">;
}

export interface WakeOptions extends ActOptions {
  /** Called once, when the call that scales has ended. Must not throw. */
  readonly onScaled?: (outcome: "woken" | "awake" | "failed") => void;
}

/** How long either call may take unless the caller says otherwise, in milliseconds. */
const DEADLINE = 5000;

/**
 * Scales a workload up from zero and resumes its autoscaler, which is kept from scaling it to zero again until the caller calms it. `awake`: it had replicas, which stay as they are. Both calls are under way when this returns, the scale's
 * first: a pod takes longer to start than an autoscaler to look.
 *
 * Rejects if either call fails, with the error of the scale if both do. The whole may be repeated, so a caller retries it or reports the error; what an error means
 * for its own work is all that a caller decides.
 */
export async function wakeWorkload(
  { scales, autoscalers }: WorkloadClients,
  { namespace, target, minReplicas, autoscaler }: Workload,
  { onScaled, ...options }: WakeOptions = {},
): Promise<"woken" | "awake"> {
  const call = { deadline: DEADLINE, ...options };
  const scaled = scales.wake(namespace, target, minReplicas, call);
  const resumed = autoscaler ? autoscalers.resume(namespace, autoscaler, { ...call, active: true }) : undefined;
  // Its failure is told below, after the scale's.
  resumed?.catch(() => undefined);
  let outcome: "woken" | "awake" | "failed" = "failed";
  try {
    outcome = await scaled;
  } finally {
    onScaled?.(outcome);
  }
  await resumed;
  return outcome;
}
