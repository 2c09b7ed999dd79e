import { type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import type { AutoscalerRef } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import { AutoscalerForbidden } from "./errors.ts";

const scaledObjects: ResourceTypeOf<KubeObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

const PAUSED = "autoscaling.keda.sh/paused";
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";

/** As the original writes them, so that either undoes what the other did. KEDA itself keeps the replicas of a pause at its number. */
const annotations = {
  pause: { [PAUSED]: "true", [PAUSED_REPLICAS]: "0" },
  resume: { [PAUSED]: "false", [PAUSED_REPLICAS]: null },
} as const;

/** `absent`: there is no such autoscaler, or the cluster has none of its kind. `unneeded`: it steps aside by itself. */
export type Aside = "absent" | "unneeded";

/** What scales a workload besides, kept from it while it sleeps. Both calls can be repeated. */
export class Autoscalers {
  readonly #kube: Pick<KubeClient, "resource">;

  constructor(kube: Pick<KubeClient, "resource">) {
    this.#kube = kube;
  }

  async pause(namespace: string, autoscaler: AutoscalerRef, options: ActOptions = {}): Promise<"paused" | Aside> {
    return (await this.#annotate(namespace, autoscaler, "pause", options)) ?? "paused";
  }

  async resume(namespace: string, autoscaler: AutoscalerRef, options: ActOptions = {}): Promise<"resumed" | Aside> {
    return (await this.#annotate(namespace, autoscaler, "resume", options)) ?? "resumed";
  }

  async #annotate(
    namespace: string,
    { type, name }: AutoscalerRef,
    what: keyof typeof annotations,
    options: ActOptions,
  ): Promise<Aside | undefined> {
    // A HorizontalPodAutoscaler whose minReplicas is above 0 takes replicas of 0 for the wish to be left alone, and goes on once there
    // are some (https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation).
    if (type === "hpa") return "unneeded";
    const patch = { type: "merge", body: { metadata: { annotations: annotations[what] } } } as const;
    try {
      await checkedBy(options, this.#kube.resource(scaledObjects, { lane: "urgent" })).patch(
        { namespace, name },
        patch,
        options,
      );
      return undefined;
    } catch (error) {
      if (error instanceof kubeErrors.NotFound) return "absent";
      if (!(error instanceof kubeErrors.Forbidden)) throw error;
      throw new AutoscalerForbidden({ scaledObject: `${namespace}/${name}` }, { cause: error });
    }
  }
}
