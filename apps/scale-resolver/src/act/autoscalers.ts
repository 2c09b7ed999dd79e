import { type KubeClient, kubeErrors, type KubeObject, type Patch, type ResourceTypeOf } from "@evenkeel/kube";
import type { AutoscalerRef } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import { AutoscalerForbidden } from "./errors.ts";

const scaledObjects: ResourceTypeOf<KubeObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

const PAUSED = "autoscaling.keda.sh/paused";
/** KEDA scales to that number by itself and beyond `paused`, so that it would race with this program. The original writes it. */
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";
/** Keeps KEDA from scaling to zero, since 2.18. */
const ACTIVE = "autoscaling.keda.sh/force-activation";
/** Beside it, says that it was set here. */
const ACTIVATED = "evenkeel.io/activated";

const annotations = {
  pause: { [PAUSED]: "true", [PAUSED_REPLICAS]: null },
  resume: { [PAUSED]: "false", [PAUSED_REPLICAS]: null },
  activate: { [PAUSED]: "false", [PAUSED_REPLICAS]: null, [ACTIVE]: "true", [ACTIVATED]: "true" },
} as const;

/** `absent`: there is no such autoscaler, or the cluster has none of its kind. `unneeded`: it steps aside by itself. */
export type Aside = "absent" | "unneeded";

export interface ResumeOptions extends ActOptions {
  /** Keep it from scaling to zero until `calm`: of a workload that was just woken, its triggers know nothing yet. */
  readonly active?: boolean;
}

/** What scales a workload besides, kept from it while it sleeps. All calls can be repeated. */
export class Autoscalers {
  readonly #kube: Pick<KubeClient, "resource">;

  constructor(kube: Pick<KubeClient, "resource">) {
    this.#kube = kube;
  }

  async pause(namespace: string, autoscaler: AutoscalerRef, options: ActOptions = {}): Promise<"paused" | Aside> {
    return (await this.#annotate(namespace, autoscaler, "pause", options)) ?? "paused";
  }

  async resume(
    namespace: string,
    autoscaler: AutoscalerRef,
    { active = false, ...options }: ResumeOptions = {},
  ): Promise<"resumed" | Aside> {
    return (await this.#annotate(namespace, autoscaler, active ? "activate" : "resume", options)) ?? "resumed";
  }

  /** Lets it scale to zero again, if `resume` has kept it from that. */
  async calm(namespace: string, autoscaler: AutoscalerRef, options: ActOptions = {}): Promise<void> {
    const at = (annotation: string) => `/metadata/annotations/${annotation.replace("/", "~1")}`;
    const operations = [
      { op: "test", path: at(ACTIVATED), value: "true" },
      { op: "remove", path: at(ACTIVE) },
      { op: "remove", path: at(ACTIVATED) },
    ] as const;
    try {
      await this.#patch(namespace, autoscaler, { type: "json", operations }, options);
    } catch (error) {
      // It was not kept, or somebody has taken the annotation away.
      if (!(error instanceof kubeErrors.Invalid)) throw error;
    }
  }

  #annotate(
    namespace: string,
    autoscaler: AutoscalerRef,
    what: keyof typeof annotations,
    options: ActOptions,
  ): Promise<Aside | undefined> {
    const body = { metadata: { annotations: annotations[what] } };
    return this.#patch(namespace, autoscaler, { type: "merge", body }, options);
  }

  async #patch(
    namespace: string,
    { type, name }: AutoscalerRef,
    patch: Patch,
    options: ActOptions,
  ): Promise<Aside | undefined> {
    // A HorizontalPodAutoscaler whose minReplicas is above 0 takes replicas of 0 for the wish to be left alone, and goes on once there
    // are some (https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation).
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
