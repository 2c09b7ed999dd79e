import { setTimeout as pause } from "node:timers/promises";
import { type KubeClient, type KubeObject, replicaSets, type ResourceTypeOf } from "@evenkeel/kube";
import { NAMESPACE } from "./manifests.ts";

const rollouts: ResourceTypeOf<KubeObject> = {
  ...{ group: "argoproj.io", version: "v1alpha1", kind: "Rollout", plural: "rollouts", namespaced: true },
};

/** Acts as Argo Rollouts: the ReplicaSet of a Rollout's name gets its replicas. */
export class RolloutFollower implements AsyncDisposable {
  readonly #kube: KubeClient;
  #following: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  follow(name: string): void {
    this.#following = this.#follow({ namespace: NAMESPACE, name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.#following;
  }

  async #follow(object: { readonly namespace: string; readonly name: string }): Promise<void> {
    let given: number | undefined;
    while (!this.#stopped) {
      const { spec } = await this.#kube.resource(rollouts).scale.get(object);
      const replicas = spec.replicas ?? 0;
      const patch = { type: "merge", body: { spec: { replicas } } } as const;
      if (replicas !== given) await this.#kube.resource(replicaSets).scale.patch(object, patch);
      given = replicas;
      await pause(100);
    }
  }
}
