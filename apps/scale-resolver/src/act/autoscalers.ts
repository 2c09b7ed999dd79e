import { type KubeClient, kubeErrors, type KubeObject, type Patch, type ResourceTypeOf } from "@evenkeel/kube";
import type { AutoscalerRef } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import { AutoscalerForbidden } from "./errors.ts";

const scaledObjects: ResourceTypeOf<KubeObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

const PAUSED = "autoscaling.keda.sh/paused";
/**
 * The original writes this annotation. With it, KEDA scales to the number itself and ignores `paused`, which would race
 * with this program.
 */
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";
/** Prevents KEDA from scaling to zero. Requires KEDA 2.18. */
const ACTIVE = "autoscaling.keda.sh/force-activation";
/** Marks that this program set `force-activation`. */
const ACTIVATED = "evenkeel.io/activated";

const annotations = {
  pause: { [PAUSED]: "true", [PAUSED_REPLICAS]: null },
  resume: { [PAUSED]: "false", [PAUSED_REPLICAS]: null },
  activate: { [PAUSED]: "false", [PAUSED_REPLICAS]: null, [ACTIVE]: "true", [ACTIVATED]: "true" },
} as const;

/** `absent`: the autoscaler or its kind does not exist. `unneeded`: the autoscaler does not act at 0 replicas. */
export type NotPaused = "absent" | "unneeded";

export interface ResumeOptions extends ActOptions {
  /**
   * Prevents scaling to zero until `allowZero` is called. The triggers of a workload that was just woken do not report
   * traffic yet.
   */
  readonly active?: boolean;
}

/** Pauses and resumes the autoscaler of a workload that sleeps. All calls can be repeated. */
export class Autoscalers {
  readonly #kube: Pick<KubeClient, "resource">;

  constructor(kube: Pick<KubeClient, "resource">) {
    this.#kube = kube;
  }

  async pause(namespace: string, autoscaler: AutoscalerRef, options: ActOptions = {}): Promise<"paused" | NotPaused> {
    return (await this.#annotate(namespace, autoscaler, "pause", options)) ?? "paused";
  }

  async resume(
    namespace: string,
    autoscaler: AutoscalerRef,
    { active = false, ...options }: ResumeOptions = {},
  ): Promise<"resumed" | NotPaused> {
    return (await this.#annotate(namespace, autoscaler, active ? "activate" : "resume", options)) ?? "resumed";
  }

  /** Lets the autoscaler scale to zero again, if `resume` prevented it. */
  async allowZero(namespace: string, autoscaler: AutoscalerRef, options: ActOptions = {}): Promise<void> {
    const at = (annotation: string) => `/metadata/annotations/${annotation.replace("/", "~1")}`;
    const operations = [
      { op: "test", path: at(ACTIVATED), value: "true" },
      { op: "remove", path: at(ACTIVE) },
      { op: "remove", path: at(ACTIVATED) },
    ] as const;
    try {
      await this.#patch(namespace, autoscaler, { type: "json", operations }, options);
    } catch (error) {
      // This program did not set the annotation, or another client removed it.
      if (!(error instanceof kubeErrors.Invalid)) throw error;
    }
  }

  #annotate(
    namespace: string,
    autoscaler: AutoscalerRef,
    what: keyof typeof annotations,
    options: ActOptions,
  ): Promise<NotPaused | undefined> {
    const body = { metadata: { annotations: annotations[what] } };
    return this.#patch(namespace, autoscaler, { type: "merge", body }, options);
  }

  async #patch(
    namespace: string,
    { type, name }: AutoscalerRef,
    patch: Patch,
    options: ActOptions,
  ): Promise<NotPaused | undefined> {
    // A HorizontalPodAutoscaler with minReplicas above 0 does nothing at 0 replicas, and continues once there are some
    // (https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation).
    if (type === "hpa") return "unneeded";
    const resource = checkedBy(options, this.#kube.resource(scaledObjects, { lane: "urgent" }));
    try {
      await resource.patch({ namespace, name }, patch, options);
      return undefined;
    } catch (error) {
      if (error instanceof kubeErrors.NotFound) return "absent";
      if (!(error instanceof kubeErrors.Forbidden)) throw error;
      throw new AutoscalerForbidden({ scaledObject: `${namespace}/${name}` }, { cause: error });
    }
  }
}
