import type { Logger } from "@evenkeel/runtime";
import { wakeWorkload, type Workload, type WorkloadClients } from "../act/wake-workload.ts";
import { serviceKey } from "../binding.ts";

export interface WakeOnDemandOptions extends WorkloadClients {
  /** The workload of a Service, by its key. */
  readonly binding: (key: string) => Workload | undefined;
  readonly log: Logger;
  readonly changed: (key: string) => void;
}

/**
 * Wakes a Service that a caller names, and triggers a reconcile in any case. Resolves with whether this call woke it.
 * If the autoscaler cannot be resumed, this is logged and the call succeeds: the workload is awake, and the next
 * reconcile resumes the autoscaler.
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
