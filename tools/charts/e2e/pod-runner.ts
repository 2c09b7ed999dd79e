import { spawn } from "node:child_process";
import { type KubeClient, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";

/** A Pod as far as a kubelet's part is played here. */
export interface HookPod extends KubeObject {
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly args?: readonly string[];
      readonly env?: readonly EnvironmentVariable[];
    }[];
  };
  readonly status?: { readonly phase?: string };
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
}

const hookPods: ResourceTypeOf<HookPod> = {
  ...{ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
};

export interface PodRunnerOptions {
  readonly kube: KubeClient;
  readonly namespace: string;
  /** Containers that are run; all others are left to KWOK, under which nothing runs. */
  readonly containers: readonly string[];
  /** What differs on this machine from the inside of a cluster: addresses and the places of files. */
  readonly environment: (pod: HookPod) => Promise<Readonly<Record<string, string>>>;
}

const PERIOD_MS = 200;

/**
 * Plays the kubelet for pods of hooks: runs a container's command as a process here and writes how it ended as the
 * pod's phase.
 */
export class PodRunner implements AsyncDisposable {
  /** What each container said, in the order in which they ended. */
  readonly said: string[] = [];
  readonly #options: PodRunnerOptions;
  readonly #seen = new Set<string>();
  readonly #runs: Promise<void>[] = [];
  readonly #looking: Promise<void>;
  #ending = false;

  constructor(options: PodRunnerOptions) {
    this.#options = options;
    this.#looking = this.#look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending = true;
    await this.#looking;
    await Promise.all(this.#runs);
  }

  async #look(): Promise<void> {
    const { kube, namespace, containers } = this.#options;
    while (!this.#ending) {
      const { items } = await kube.resource(hookPods).list({ namespace });
      for (const pod of items) {
        const { uid = "" } = pod.metadata;
        const [container] = pod.spec.containers;
        if (pod.status?.phase !== "Running" || this.#seen.has(uid) || !containers.includes(container?.name ?? ""))
          continue;
        this.#seen.add(uid);
        this.#runs.push(this.#run(pod));
      }
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  async #run(pod: HookPod): Promise<void> {
    const { kube, environment } = this.#options;
    const [{ args = [], env = [] } = {}] = pod.spec.containers;
    const given = Object.fromEntries(env.map(({ name, value = "" }) => [name, value]));
    const code = await this.#execute(args, { ...given, ...(await environment(pod)) });
    const { namespace, name = "" } = pod.metadata;
    const body = { status: { phase: code === 0 ? "Succeeded" : "Failed" } };
    await kube.resource(hookPods).status.patch({ namespace, name }, { type: "merge", body });
  }

  /** As the image does it: its entry point is Node. */
  async #execute(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const code = await new Promise<number>((resolve) => child.on("close", (ended) => resolve(ended ?? -1)));
    this.said.push(said);
    return code;
  }
}
