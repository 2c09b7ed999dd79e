import { type KubeClient, namespaces } from "@evenkeel/kube";
import type { Component } from "@evenkeel/runtime";

/**
 * Which cluster the own one is: the uid of its namespace kube-system, which never changes, and its server's version.
 */
export class ClusterIdentity implements Component {
  readonly name = "cluster identity";
  readonly #kube: Pick<KubeClient, "resource" | "version">;
  #uid: string | undefined;

  constructor(kube: Pick<KubeClient, "resource" | "version">) {
    this.#kube = kube;
  }

  /** Undefined until it has started. */
  get known(): string | undefined {
    return this.#uid;
  }

  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.uid(signal);
  }

  async uid(signal: AbortSignal): Promise<string> {
    this.#uid ??= (await this.#kube.resource(namespaces).get({ name: "kube-system" }, { signal })).metadata.uid ?? "";
    return this.#uid;
  }

  async version(signal: AbortSignal): Promise<string> {
    return (await this.#kube.version({ signal })).text;
  }
}
