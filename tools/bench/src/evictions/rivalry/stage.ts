import { type Cluster, startCluster, waitUntil } from "@evenkeel/control-plane";
import {
  connectKube,
  controllerOf,
  evict,
  type KubeClient,
  kubeErrors,
  type Pod,
  pods,
  type ReplicaSet,
  replicaSets,
} from "@evenkeel/kube";
import { slowDeletion } from "./slow-deletion.ts";
import { MEBIBYTES_PER_MILLI_CPU, NODE_CPU, type PlacedPod, type Scene, type Workload } from "./workload.ts";

export const NAMESPACE = "bench";
/** Calls to the API server at a time. */
const AT_A_TIME = 16;
const DEADLINE_MS = 300_000;

export interface SeenPod {
  readonly uid: string;
  readonly name: string;
  /** The name of its ReplicaSet. */
  readonly workload: string;
  readonly node: string;
}

export interface StageOptions {
  readonly nodes: number;
  /** Milliseconds for which an evicted pod stays on its node. Default: 0. */
  readonly deletionMs?: number;
}

/** A real control plane with KWOK nodes, on which every contender finds the same pods on the same nodes. */
export class Stage implements AsyncDisposable {
  readonly kube: KubeClient;
  readonly #cluster: Cluster;
  readonly #resources: DisposableStack;
  /** Evicted pods stay for a while, and nobody waits for their end. */
  readonly #isSlow: boolean;
  #staged: { readonly scene: Scene; readonly pods: readonly Pod[] } | undefined;

  private constructor(cluster: Cluster, isSlow: boolean, resources: DisposableStack) {
    this.#cluster = cluster;
    this.#resources = resources;
    this.#isSlow = isSlow;
    const settings = {
      kubeconfig: cluster.kubeconfig,
      kubeContext: undefined,
      kubeDeadline: 60_000,
      kubeConnections: AT_A_TIME,
      kubeQps: 0,
      kubeBurst: 100,
    };
    this.kube = connectKube({ settings, env: {}, userAgent: "bench" });
  }

  static async start({ nodes, deletionMs = 0 }: StageOptions, progress: (line: string) => void): Promise<Stage> {
    const size = { count: nodes, cpu: `${NODE_CPU}m`, memory: `${NODE_CPU * MEBIBYTES_PER_MILLI_CPU}Mi` };
    using resources = new DisposableStack();
    const toolset = deletionMs === 0 ? undefined : resources.use(await slowDeletion(deletionMs, progress));
    const options = { name: "bench", nodes: size, progress, ...(toolset && { toolset: toolset.folder }) };
    const stage = new Stage(await startCluster(options), deletionMs > 0, resources.move());
    await stage.kube.request({
      method: "POST",
      path: "/api/v1/namespaces",
      verb: "create",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    });
    return stage;
  }

  get kubeconfig(): string {
    return this.#cluster.kubeconfig;
  }

  /**
   * Puts the pods of the scene on their nodes, and removes all others. The controllers do not run meanwhile: they would
   * replace pods that are not there yet.
   */
  async place(scene: Scene): Promise<void> {
    await this.#cluster.kill("kube-controller-manager");
    if (this.#staged?.scene !== scene) await this.#stageNew(scene);
    const wanted = new Map(this.#staged?.pods.map((pod) => [pod.metadata.name, pod]));
    const found = new Set<string | undefined>();
    await inTurns(await this.#list(), async ({ metadata: { namespace, name = "", deletionTimestamp } }) => {
      // A pod of this scene that was evicted and is terminating has its name still.
      if (wanted.has(name) && deletionTimestamp === undefined) found.add(name);
      else await this.#remove({ namespace, name });
    });
    const missing = [...wanted].flatMap(([name, pod]) => (found.has(name) ? [] : [pod]));
    await inTurns(missing, (pod) => this.kube.resource(pods).create(pod));
    await this.landed();
    await this.#cluster.restart("kube-controller-manager");
    await waitUntil("the controllers count all replicas", () => this.#whyNotCounted(), { deadlineMs: DEADLINE_MS });
  }

  /** Waits until all replicas run somewhere and no evicted pod is left, unless deletion is slow, and gives them. */
  async landed(): Promise<readonly SeenPod[]> {
    const wanted = this.#staged?.pods.length ?? 0;
    let seen: readonly SeenPod[] = [];
    await waitUntil(
      "all replicas run",
      async () => {
        const found = await this.#list();
        seen = found.filter(isRunning).map(seenPod);
        return seen.length === wanted && (this.#isSlow || found.length === wanted)
          ? undefined
          : `${seen.length} of ${found.length} pods run; ${wanted} are wanted`;
      },
      { deadlineMs: DEADLINE_MS, everyMs: 200 },
    );
    return seen;
  }

  /** The pods that run now. */
  async running(): Promise<readonly SeenPod[]> {
    return (await this.#list()).filter(isRunning).map(seenPod);
  }

  /** Evicts pods in this order, each after the answer for the one before. */
  async evict(chosen: readonly { readonly uid: string; readonly name: string }[]): Promise<void> {
    for (const { uid, name } of chosen) await evict(this.kube, { namespace: NAMESPACE, name }, { uid });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kube.stop();
    await this.#cluster.stop();
    this.#resources.dispose();
  }

  /** A pod that is terminating may be gone by itself in the meantime. */
  async #remove(pod: { readonly namespace?: string | undefined; readonly name: string }): Promise<void> {
    try {
      await this.kube.resource(pods).delete(pod, { gracePeriodSeconds: 0 });
    } catch (error) {
      if (!(error instanceof kubeErrors.NotFound)) throw error;
    }
  }

  async #list(): Promise<readonly Pod[]> {
    const found: Pod[] = [];
    for await (const { items } of this.kube.resource(pods).pages({ namespace: NAMESPACE })) found.push(...items);
    return found;
  }

  /** Removes everything, and creates the ReplicaSets of the scene without their pods. */
  async #stageNew(scene: Scene): Promise<void> {
    for (const path of [`/api/v1/namespaces/${NAMESPACE}/pods`, `/apis/apps/v1/namespaces/${NAMESPACE}/replicasets`]) {
      const body = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
      await this.kube.request({ method: "DELETE", path, verb: "delete", body, deadline: DEADLINE_MS });
    }
    const sets = await inTurns(scene.workloads, (workload) => this.kube.resource(replicaSets).create(setOf(workload)));
    this.#staged = { scene, pods: scene.pods.map((pod, index) => podOf(scene, sets, pod, index)) };
  }

  async #whyNotCounted(): Promise<string | undefined> {
    const { items } = await this.kube.resource(replicaSets).list({ namespace: NAMESPACE });
    const isCounted = ({ metadata, spec, status }: ReplicaSet) =>
      status?.observedGeneration === metadata.generation && status?.readyReplicas === spec?.replicas;
    const missing = items.filter((set) => !isCounted(set)).length;
    return missing === 0 ? undefined : `${missing} ReplicaSets do not have all replicas ready`;
  }
}

function isRunning({ metadata, spec, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && spec?.nodeName !== undefined && status?.phase === "Running";
}

function seenPod(pod: Pod): SeenPod {
  const { uid = "", name = "" } = pod.metadata;
  return { uid, name, workload: controllerOf(pod)?.name ?? "", node: pod.spec?.nodeName ?? "" };
}

function setOf(workload: Workload): ReplicaSet {
  const { name, replicas } = workload;
  const metadata = { namespace: NAMESPACE, name };
  const matchLabels = { app: name };
  const template = { metadata: { labels: matchLabels }, spec: podSpecOf(workload) };
  return { metadata, spec: { replicas, selector: { matchLabels }, template } };
}

function podOf(scene: Scene, owners: readonly ReplicaSet[], { workload, node }: PlacedPod, index: number): Pod {
  const own = scene.workloads[workload] as Workload;
  const { uid = "" } = owners[workload]?.metadata ?? {};
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: own.name, uid, controller: true };
  const name = `${own.name}-${index}`;
  return {
    metadata: { namespace: NAMESPACE, name, labels: { app: own.name }, ownerReferences: [owner] },
    spec: { ...podSpecOf(own), nodeName: `node-${node}` },
  };
}

function podSpecOf({ cpu }: Workload) {
  const requests = { cpu: `${cpu}m`, memory: `${cpu * MEBIBYTES_PER_MILLI_CPU}Mi` };
  return { containers: [{ name: "main", image: "images.invalid/main:1", resources: { requests } }] };
}

async function inTurns<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const workers = Array.from({ length: AT_A_TIME }, async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index);
  });
  await Promise.all(workers);
  return results;
}
