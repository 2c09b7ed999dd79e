import type { Logger } from "@evenkeel/runtime";
import { wakeWorkload, type Workload, type WorkloadClients } from "../act/wake-workload.ts";
import { serviceKey } from "../binding.ts";

export interface WakeOnDemandOptions extends WorkloadClients {
  /** How a Service is managed, by its key. */
  readonly binding: (key: string) => Workload | undefined;
  readonly log: Logger;
  readonly changed: (key: string) => void;
}

/**
 * Wakes a Service that a caller names, and has it reconciled whatever comes of that; resolves with whether this call woke it. An autoscaler that cannot be resumed is
 * logged and not the caller's error: the workload is awake, and the next reconcile resumes the autoscaler too.
 */
export function wakeOnDemand(options: WakeOnDemandOptions) {
  const { log, changed } = options;
  return async (namespace: string, service: string, reason: string): Promise<boolean> => {
    const key = serviceKey(namespace, service);
    const workload = options.binding(key);
    if (!workload) return false;
    let outcome = "failed";
    const onScaled = (scaled: typeof outcome) => (outcome = scaled);
    try {
      await wakeWorkload(options, workload, { onScaled });
    } catch (error) {
      if (outcome === "failed") throw error;
      log.warn({ error, namespace, service }, "could not resume the autoscaler of a service that was woken");
    } finally {
      changed(key);
    }
    log.info({ namespace, service, reason, outcome }, "woke a service on demand");
    return outcome === "woken";
  };
}
