import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  apply,
  chartAccount,
  type ClusterProxy,
  clusterProxy,
  kubectl,
  list,
  type Pod,
  type useCluster,
  waitUntil,
} from "@evenkeel/e2e";
import { ServiceProcess } from "@evenkeel/testkit";
import { connectKube, deployments, type EndpointSlice, endpointSlices, type KubeClient, pods } from "@evenkeel/kube";
import { type Prometheus, startPrometheus } from "@evenkeel/sim";
import type { State } from "../src/decide/state.ts";
import { useOf } from "../src/act/path-plan.ts";
import { elastiServices, type StoredElastiService } from "../src/elasti-service-resource.ts";
import { DEFINITIONS } from "./definitions.ts";
import { elastiService, NAMESPACE, namespaceOf, service, workload } from "./manifests.ts";
import { PodPrograms } from "./pod-programs.ts";

/** A control plane of `useCluster`. */
export type Cluster = ReturnType<ReturnType<typeof useCluster>>;

/** The service's chart, and all that it makes. */
export const CHART = "scale-resolver";

/**
 * The resolver's port for requests of every Service. Not the port of its own Service, because the cluster's proxy
 * listens there.
 */
const REQUESTS_PORT = 18_012;

const MAIN = join(import.meta.dirname, "../dist/main.mjs");
const ROOT = join(import.meta.dirname, "../../..");

/** A release of the chart. */
export interface Release {
  readonly namespace: string;
  /** As after `--set`. */
  readonly values?: readonly string[];
  readonly flags?: readonly string[];
  /** Default: any that is free. */
  readonly grpcPort?: number;
}

/**
 * A cluster with working Services: pods with programs, a kube-proxy, a metric server, and the chart's resolver as a
 * process.
 */
export class Site implements AsyncDisposable {
  readonly kube: KubeClient;
  readonly pods: PodPrograms;
  readonly prometheus: Prometheus;
  readonly proxy: ClusterProxy;
  readonly #cluster: Cluster;

  private constructor(cluster: Cluster, parts: Pick<Site, "kube" | "pods" | "prometheus">) {
    this.#cluster = cluster;
    this.kube = parts.kube;
    this.pods = parts.pods;
    this.prometheus = parts.prometheus;
    this.proxy = clusterProxy(cluster);
  }

  static async start(cluster: Cluster): Promise<Site> {
    const file = "charts/scale-resolver/files/crds/elasti.truefoundry.com_elastiservices.yaml";
    await kubectl(cluster, ["apply", "-f", "-"], { input: await readFile(join(ROOT, file), "utf8") });
    await apply(cluster, ...DEFINITIONS, namespaceOf(NAMESPACE));
    const names = ["elastiservices.elasti.truefoundry.com", ...DEFINITIONS.map(({ metadata }) => metadata.name)];
    await kubectl(cluster, ["wait", "--for=condition=Established", "crd", ...names, "--timeout=30s"]);
    const { kubeconfig } = cluster;
    const settings = {
      kubeconfig,
      kubeContext: undefined,
      kubeDeadline: 10_000,
      kubeConnections: 4,
      kubeQps: 0,
      kubeBurst: 100,
    };
    const kube = connectKube({ settings, env: {}, userAgent: "tests" });
    return new Site(cluster, { kube, pods: await PodPrograms.start(kube), prometheus: await startPrometheus() });
  }

  /**
   * Starts the chart's resolver as a process with only the rights of the chart's account. It accepts requests at the
   * addresses of the release's pods.
   */
  async serve({ namespace, values = [], flags = [], grpcPort = 0 }: Release): Promise<ServiceProcess> {
    const account = await chartAccount(this.#cluster, {
      ...{ chart: CHART, namespace },
      values: [`settings.port=${REQUESTS_PORT}`, "takeOver.enabled=true", "routes.enabled=true", ...values],
    });
    await kubectl(this.#cluster, ["rollout", "status", `deployment/${CHART}`, "-n", namespace, "--timeout=60s"]);
    const [pod] = await this.#resolverPods(namespace);
    return ServiceProcess.start(MAIN, [
      `--pod-name=${pod?.metadata.name ?? ""}`,
      `--kubeconfig=${account.kubeconfig}`,
      `--lease-namespace=${namespace}`,
      `--resolver-service=${CHART}`,
      "--listen-host=0.0.0.0",
      `--port=${REQUESTS_PORT}`,
      `--grpc-port=${grpcPort}`,
      "--insecure",
      "--state=sqlite::memory:",
      "--trigger-interval=300ms",
      "--settle=500ms",
      "--warm-up=1s",
      "--lease-duration=3s",
      "--lease-renew-deadline=2s",
      "--lease-retry-period=300ms",
      ...flags,
    ]);
  }

  /** Addresses of a release's pods. */
  async resolvers(namespace: string): Promise<readonly string[]> {
    return (await this.#resolverPods(namespace)).map(({ status }) => status.podIP ?? "").sort();
  }

  #resolverPods(namespace: string) {
    return list<Pod>(this.#cluster, "pods", "-n", namespace, "-l", `app.kubernetes.io/name=${CHART}`);
  }

  /**
   * Applies a Deployment, its Service and their ElastiService, and returns the Service's address once it is managed.
   */
  async given(name: string, change: Readonly<Record<string, unknown>> = {}, grace = 1): Promise<string> {
    await apply(this.#cluster, workload("Deployment", name, { grace }), service(name), elastiService(name, change));
    await this.inState(name, "Serve");
    return this.proxy.url(NAMESPACE, name, 80);
  }

  /** Scales workloads to 0 replicas, and waits until they sleep. */
  async sleepByHand(...names: readonly string[]): Promise<void> {
    const targets = names.map((name) => `deployment/${name}`);
    await kubectl(this.#cluster, ["scale", ...targets, "-n", NAMESPACE, "--replicas=0"]);
    for (const name of names) await this.asleep(name);
  }

  /**
   * Waits until a service sleeps, its last pod is removed, and the resolver knows it: until then it may still forward a
   * request to the pod's address, which may be another pod's by now.
   */
  async asleep(name: string, namespace = NAMESPACE): Promise<void> {
    await this.inState(name, "Zero", namespace);
    await this.until(`the pods of ${name} to go`, async () => {
      const { items } = await this.kube.resource(pods).list({ namespace, labelSelector: `app=${name}` });
      return items.length === 0 ? undefined : `there are ${items.length}`;
    });
    await this.until(`${name} to be known without pods`, async () => {
      const ready = (await this.get(name, namespace)).status?.conditions?.find(({ type }) => type === "Ready");
      // Of the reasons in Zero, those two say that nothing serves.
      const isKnown = ready?.reason === "Asleep" || ready?.reason === "ScaledToZero";
      return isKnown ? undefined : JSON.stringify(ready ?? null);
    });
  }

  get(name: string, namespace = NAMESPACE): Promise<StoredElastiService> {
    return this.kube.resource(elastiServices).get({ namespace, name });
  }

  async inState(name: string, state: State, namespace = NAMESPACE): Promise<void> {
    await this.until(`${namespace}/${name} to be in ${state}`, async () => {
      const { status } = await this.get(name, namespace);
      return status?.state === state ? undefined : JSON.stringify(status ?? null);
    });
  }

  /** Waits until the condition Ready has a reason. */
  async hasReason(name: string, reason: string): Promise<void> {
    await this.until(`${name} to be ${reason}`, async () => {
      const ready = (await this.get(name)).status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.reason === reason ? undefined : JSON.stringify(ready ?? null);
    });
  }

  /** The resolver's own EndpointSlices of a Service. */
  async ownSlices(name: string, namespace = NAMESPACE): Promise<readonly EndpointSlice[]> {
    const labelSelector = `kubernetes.io/service-name=${name},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
    return (await this.kube.resource(endpointSlices).list({ namespace, labelSelector })).items;
  }

  /** Waits until a pod of a Service is ready. */
  async hasReadyEndpoint(name: string): Promise<void> {
    const labelSelector = `kubernetes.io/service-name=${name},endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io`;
    await this.until(`a pod of ${name} to be ready`, async () => {
      const { items } = await this.kube.resource(endpointSlices).list({ namespace: NAMESPACE, labelSelector });
      const isReady = items.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready === true));
      return isReady ? undefined : JSON.stringify(items.map(({ endpoints }) => endpoints));
    });
  }

  /** Addresses of the resolver in a Service's path. */
  async inPath(name: string): Promise<readonly string[]> {
    return (await this.#redirects(name, NAMESPACE))
      .flatMap(({ endpoints }) => (endpoints ?? []).flatMap((one) => one.addresses))
      .sort();
  }

  /** Waits until the resolver is out of a Service's path again. */
  async outOfPath(name: string, namespace = NAMESPACE): Promise<void> {
    await this.inState(name, "Serve", namespace);
    await this.until("requests to be no longer redirected", async () => {
      const slices = await this.#redirects(name, namespace);
      return slices.length === 0 ? undefined : JSON.stringify(slices);
    });
  }

  async #redirects(name: string, namespace: string): Promise<readonly EndpointSlice[]> {
    return (await this.ownSlices(name, namespace)).filter((slice) => useOf(slice) === "redirect");
  }

  /** The /scale of a Deployment. */
  async replicas(name: string, namespace = NAMESPACE): Promise<number> {
    const { spec } = await this.kube.resource(deployments).scale.get({ namespace, name });
    return spec.replicas ?? 0;
  }

  async podNames(name: string): Promise<readonly string[]> {
    const { items } = await this.kube.resource(pods).list({ namespace: NAMESPACE, labelSelector: `app=${name}` });
    return items.map(({ metadata }) => metadata.name ?? "");
  }

  /** Addresses of the pods of a workload. */
  async podsOf(name: string, namespace = NAMESPACE): Promise<readonly string[]> {
    const { items } = await this.kube.resource(pods).list({ namespace, labelSelector: `app=${name}` });
    return items.map(({ status }) => (status as { podIP?: string } | undefined)?.podIP ?? "");
  }

  /** Waits for what the cluster or the resolver does by itself. */
  async until(what: string, whyNot: () => Promise<string | undefined>): Promise<void> {
    await waitUntil(what, whyNot);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await this.pods[Symbol.asyncDispose]();
    await this.prometheus.stop();
    await this.kube.stop();
  }
}

/** The query of a service's trigger. */
export class Traffic {
  readonly triggers: readonly object[];
  readonly query: string;
  /** Requests a second; null is no sample at all. */
  rate: number | null = 5;
  /** What `up` of the metric server itself is, by the filter that a trigger has. */
  up = 1;

  constructor(prometheus: Prometheus, name: string, uptimeFilter = 'container="prometheus"') {
    const query = `sum(rate(http_requests_total{service="${name}"}[1m]))`;
    this.query = query;
    const vector = (value: number | null) => ({
      kind: "vector" as const,
      samples: value === null ? [] : [{ metric: {}, value }],
    });
    prometheus.answer(query, () => vector(this.rate));
    prometheus.answer(`min_over_time((max(up{${uptimeFilter}}) or vector(0))[1s:])`, () => vector(this.up));
    const metadata = { query, serverAddress: prometheus.url, threshold: "0.5", uptimeFilter };
    this.triggers = [{ type: "prometheus", metadata }];
  }
}

/** A line of a table of kubectl by its headers. */
export async function row(cluster: Cluster, ...args: string[]): Promise<Readonly<Record<string, string>>> {
  const [header = "", line = ""] = (await kubectl(cluster, ["get", "elastiservice", ...args])).split("\n");
  const cells = line.trim().split(/\s{2,}/);
  const names = header.trim().split(/\s{2,}/);
  return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
}
