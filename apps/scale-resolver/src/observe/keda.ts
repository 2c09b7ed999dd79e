import { type KubeClient, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";

interface ScaledObject extends KubeObject {
  readonly spec?: { readonly minReplicaCount?: number };
}

const scaledObjects: ResourceTypeOf<ScaledObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

export interface KedaOptions {
  readonly kube: Pick<KubeClient, "resource" | "request">;
  readonly clock: Clock;
}

const DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/scaledobjects.keda.sh";
/** Milliseconds until the version is read again. */
const REMEMBERED = 600_000;

/** Reads how KEDA acts on woken workloads. */
export class Keda {
  readonly #options: KedaOptions;
  #version: { readonly value: string | undefined; readonly until: number } | undefined;

  constructor(options: KedaOptions) {
    this.#options = options;
  }

  /**
   * Why KEDA would scale a workload back to zero right after a wake, for a person; null if it would not, or if that is
   * not known.
   */
  async fault(namespace: string, name: string, signal: AbortSignal): Promise<string | null> {
    try {
      const version = await this.#installed(signal);
      if (version === undefined || !isOlder(version)) return null;
      const { spec } = await this.#options.kube.resource(scaledObjects).get({ namespace, name }, { signal });
      if ((spec?.minReplicaCount ?? 0) > 0) return null;
      return `KEDA ${version} scales the workload of ScaledObject ${name} back to 0 right after a wake if its triggers are inactive: set minReplicaCount of the ScaledObject to 1, or install KEDA 2.18 or newer`;
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  /** The version label of the CRD of ScaledObjects. */
  async #installed(signal: AbortSignal): Promise<string | undefined> {
    const { kube, clock } = this.#options;
    if (this.#version && clock.monotonic() < this.#version.until) return this.#version.value;
    const definition = await kube.request({
      path: DEFINITION,
      verb: "get",
      what: "definition of ScaledObjects",
      signal,
    });
    const { labels } = (definition as KubeObject).metadata;
    const value = labels?.["app.kubernetes.io/version"];
    this.#version = { value, until: clock.monotonic() + REMEMBERED };
    return value;
  }
}

/** Whether a version does not support `force-activation`. A version that cannot be parsed counts as new. */
function isOlder(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) < 2 || (Number(major) === 2 && Number(minor) < 18);
}
