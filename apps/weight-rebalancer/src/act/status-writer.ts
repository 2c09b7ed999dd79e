import type { RebalanceStatus } from "@evenkeel/api";
import { kubeErrors, type ObjectName, type Resource } from "@evenkeel/kube";
import type { StoredRebalance } from "../rebalance-resource.ts";

/** Writes statuses that changed. An object that is gone has none to write. */
export class StatusWriter {
  readonly #rebalances: Resource<StoredRebalance>;

  constructor(rebalances: Resource<StoredRebalance>) {
    this.#rebalances = rebalances;
  }

  async write({ metadata }: StoredRebalance, status: RebalanceStatus, signal: AbortSignal): Promise<void> {
    const name: ObjectName = { namespace: metadata.namespace, name: metadata.name ?? "" };
    // In a merge patch absent means "leave it": what is unknown now is taken out by name.
    const body = {
      metadata: { uid: metadata.uid },
      status: { ...status, actualValue: status.actualValue ?? null, desiredValue: status.desiredValue ?? null },
    };
    try {
      await this.#rebalances.status.patch(name, { type: "merge", body }, { signal });
    } catch (error) {
      if (!(error instanceof kubeErrors.NotFound)) throw error;
    }
  }
}
