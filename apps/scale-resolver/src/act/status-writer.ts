import { kubeErrors, type Resource } from "@evenkeel/kube";
import type { ElastiServiceStatus, StoredElastiService } from "../elasti-service-resource.ts";

/** Writes statuses that changed. An object that is gone has none to write. */
export class StatusWriter {
  readonly #elastiServices: Resource<StoredElastiService>;

  constructor(elastiServices: Resource<StoredElastiService>) {
    this.#elastiServices = elastiServices;
  }

  async write(
    { metadata, status: before }: StoredElastiService,
    status: ElastiServiceStatus,
    signal: AbortSignal,
  ): Promise<void> {
    if (status === before) return;
    const name = { namespace: metadata.namespace, name: metadata.name ?? "" };
    try {
      const body = { metadata: { uid: metadata.uid }, status };
      await this.#elastiServices.status.patch(name, { type: "merge", body }, { signal });
    } catch (error) {
      if (!(error instanceof kubeErrors.NotFound)) throw error;
    }
  }
}
