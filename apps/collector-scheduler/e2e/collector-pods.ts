import { setTimeout as sleep } from "node:timers/promises";
import { type KubeClient, type Pod, pods } from "@evenkeel/kube";
import { Collector, type ScrapedTarget } from "@evenkeel/telemetry";

/** Keeps a pod until its process has ended, as a kubelet does. */
const FINALIZER = "evenkeel.io/process";

/** Variable of the container that holds the collector's configuration. */
const CONFIGURATION = "AOT_CONFIG_CONTENT";

/**
 * Plays the kubelet of collectors: for each of their pods a real collector runs on this machine, for as long as the pod
 * is wanted.
 */
export class CollectorPods implements AsyncDisposable {
  readonly #kube: KubeClient;
  readonly #selection: { readonly namespace: string; readonly labelSelector: string };
  readonly #stopping = new AbortController();
  /** By the uid of the pod. */
  readonly #running = new Map<string, { readonly name: string; readonly collector: Collector }>();
  /** What the collectors of ended pods had scraped. */
  readonly #ended = new Map<string, readonly ScrapedTarget[]>();
  /** Uids of pods whose collector does not come back. */
  readonly #crashed = new Set<string>();
  /** When the collector of a pod ended that comes back under the same name; by that name, in milliseconds. */
  readonly #awaySince = new Map<string, number>();
  #longestAway = 0;
  readonly #loop: Promise<void>;

  constructor(kube: KubeClient, selection: { readonly namespace: string; readonly labelSelector: string }) {
    this.#kube = kube;
    this.#selection = selection;
    this.#loop = this.#follow();
  }

  /** Names of the pods whose collector runs. */
  get names(): readonly string[] {
    return [...this.#running.values()].map(({ name }) => name).sort();
  }

  /** Uids of the pods whose collector runs. */
  get uids(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** For how long a pod that came back under its name had no collector at most, in milliseconds. */
  get longestAway(): number {
    return this.#longestAway;
  }

  /** What all collectors have scraped so far, those that have ended too. */
  async scraped(): Promise<ReadonlyMap<string, readonly ScrapedTarget[]>> {
    const now = await Promise.all(
      [...this.#running].map(
        async ([uid, { name, collector }]) => [`${name} ${uid}`, await collector.counts()] as const,
      ),
    );
    return new Map([...this.#ended, ...now]);
  }

  /** Kills a pod's collector, which does not come back. The pod stays, and is not ready. */
  async crash(name: string): Promise<void> {
    const [uid, running] = [...this.#running].find(([, one]) => one.name === name) ?? [];
    if (uid === undefined || running === undefined) throw new Error(`${name} has no collector`);
    this.#crashed.add(uid);
    await this.#end(uid, running.collector, name, "SIGKILL");
    const conditions = [{ type: "Ready", status: "False", lastTransitionTime: new Date().toISOString() }];
    const { namespace } = this.#selection;
    await this.#kube
      .resource(pods)
      .status.patch({ name, namespace }, { type: "merge", body: { status: { conditions } } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    try {
      await this.#loop;
    } finally {
      for (const { collector } of this.#running.values()) await collector[Symbol.asyncDispose]();
    }
  }

  async #follow(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const { items } = await this.#kube.resource(pods).list(this.#selection);
      await Promise.all(items.map((pod) => this.#mind(pod)));
      await sleep(200);
    }
  }

  async #mind(pod: Pod): Promise<void> {
    const { uid = "", name = "", deletionTimestamp } = pod.metadata;
    const running = this.#running.get(uid);
    if (deletionTimestamp !== undefined) {
      if (running !== undefined) await this.#end(uid, running.collector, name, "SIGTERM");
      await this.#setFinalizers(pod, []);
    } else if (running === undefined && !this.#crashed.has(uid) && pod.status?.phase === "Running") {
      await this.#setFinalizers(pod, [FINALIZER]);
      this.#running.set(uid, { name, collector: await Collector.start(containerOf(pod)) });
      this.#longestAway = Math.max(this.#longestAway, Date.now() - (this.#awaySince.get(name) ?? Infinity));
    }
  }

  async #end(uid: string, collector: Collector, name: string, signal: NodeJS.Signals): Promise<void> {
    this.#ended.set(`${name} ${uid}`, await collector.counts());
    this.#awaySince.set(name, Date.now());
    this.#running.delete(uid);
    await collector.stop(signal);
    await collector[Symbol.asyncDispose]();
  }

  async #setFinalizers({ metadata: { name = "", namespace = "" } }: Pod, finalizers: readonly string[]): Promise<void> {
    const body = { metadata: { finalizers } };
    await this.#kube.resource(pods).patch({ name, namespace }, { type: "merge", body });
  }
}

/** What a container runtime would be told of the pod's collector. */
function containerOf({ metadata, spec }: Pod): { config: string; env: Record<string, string> } {
  const [container] = spec?.containers ?? [];
  const env = Object.fromEntries(
    (container?.env ?? []).map(({ name, value, valueFrom }) => [
      name,
      valueFrom?.fieldRef?.fieldPath === "metadata.name" ? (metadata.name ?? "") : (value ?? ""),
    ]),
  );
  const { [CONFIGURATION]: config = "", ...rest } = env;
  // As the kubelet does with the values of variables.
  return { config: config.replaceAll("$$", "$"), env: rest };
}
