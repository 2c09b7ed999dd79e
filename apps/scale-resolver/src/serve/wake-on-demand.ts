import type { Logger } from "@evenkeel/runtime";
import type { Autoscalers } from "../act/autoscalers.ts";
import type { Scales } from "../act/scales.ts";
import { type Binding, serviceKey } from "../binding.ts";

export interface WakeOnDemandOptions {
  /** How a Service is looked after, by its key. */
  readonly binding: (key: string) => Pick<Binding, "target" | "minReplicas" | "autoscaler"> | undefined;
  readonly scales: Pick<Scales, "wake">;
  readonly autoscalers: Pick<Autoscalers, "resume">;
  readonly log: Logger;
  readonly changed: (key: string) => void;
}

/**
 * What wakes a Service that somebody asks for by its name, and has it looked at whatever comes of that; says whether it was this call that woke it. An autoscaler
 * that cannot be resumed is a line in the log: the workload is awake, and the next turn resumes it too.
 */
export function wakeOnDemand(options: WakeOnDemandOptions) {
  const { scales, autoscalers, log, changed } = options;
  return async (namespace: string, service: string, reason: string): Promise<boolean> => {
    const key = serviceKey(namespace, service);
    const binding = options.binding(key);
    if (!binding) return false;
    const { target, minReplicas, autoscaler } = binding;
    try {
      const outcome = await scales.wake(namespace, target, minReplicas);
      log.info({ namespace, service, reason, outcome }, "asked to wake a service");
      if (autoscaler) {
        await autoscalers.resume(namespace, autoscaler).catch((error: unknown) => {
          log.warn({ error, namespace, service }, "the autoscaler of a service that was woken is not resumed");
        });
      }
      return outcome === "woken";
    } finally {
      changed(key);
    }
  };
}
