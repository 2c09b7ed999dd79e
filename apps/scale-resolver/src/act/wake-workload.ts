import type { Binding } from "../binding.ts";
import type { Autoscalers } from "./autoscalers.ts";
import type { Scales, WakeCallOptions } from "./scales.ts";

/** A workload, the replicas with which it wakes, and the autoscaler that is paused while it sleeps. */
export type Workload = Pick<Binding, "namespace" | "target" | "minReplicas" | "autoscaler">;

export interface WorkloadClients {
  readonly scales: Pick<Scales, "wake">;
  readonly autoscalers: Pick<Autoscalers, "resume">;
}

export interface WakeOptions extends WakeCallOptions {
  /** Called once, when the scale call has ended. Must not throw. */
  readonly onScaled?: (outcome: "woken" | "awake" | "failed") => void;
}

/** Default deadline of either call, in milliseconds. */
const DEADLINE = 5000;

/**
 * Scales a workload up from zero and resumes its autoscaler, which does not scale it to zero again until the caller
 * calls `allowZero`. `awake`: it had replicas, which are not changed. Both calls are under way when this returns. The
 * scale call is first, because a pod takes longer to start than an autoscaler to react.
 *
 * Rejects if either call fails, with the error of the scale call if both do. The call can be repeated, so a caller
 * retries it or reports the error.
 */
export async function wakeWorkload(
  { scales, autoscalers }: WorkloadClients,
  { namespace, target, minReplicas, autoscaler }: Workload,
  { onScaled, ...options }: WakeOptions = {},
): Promise<"woken" | "awake"> {
  const call = { deadline: DEADLINE, ...options };
  const scaled = scales.wake(namespace, target, minReplicas, call);
  const resumed = autoscaler ? autoscalers.resume(namespace, autoscaler, { ...call, active: true }) : undefined;
  // A failure is thrown below, after that of the scale call.
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
