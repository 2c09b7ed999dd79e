import type { Release } from "@evenkeel/charts";
import type { ClusterAccess } from "@evenkeel/control-plane";
import { apply, get, kubectl, list, waitUntil } from "@evenkeel/e2e";
import type { Certificate } from "@evenkeel/testkit";
import { NODE_IMAGE, REDIS_IMAGE, writeRedisImage } from "../../src/index.ts";
import { environment } from "./environment.ts";
import { CLIENT, CONNECT, IDLE, type Load, METRICS, SERVER, type Tally } from "./programs.ts";

const NODE = "/nodejs/bin/node";

/** In a label of the resolver's EndpointSlices. */
const MANAGER = "scale-resolver.evenkeel.io";

/** A pod without it gets no CPU for seconds while a resolver starts, and its readiness probe fails. */
const CPU = { cpu: "50m" };

export interface SiteOptions {
  /** The namespace of the services. The resolver is in one of that name and `-system`, and manages no other. */
  readonly namespace: string;
  /** Whether another release of the cluster owns the custom resource definitions. */
  readonly isFurther?: boolean;
  /** Whether two replicas of the resolver share a Redis. */
  readonly isPair?: boolean;
}

export interface ServiceOptions {
  /** Milliseconds from its start until a pod listens. */
  readonly start?: number;
  /** Milliseconds for which a pod serves after SIGTERM. */
  readonly drain?: number;
  /** Seconds after SIGTERM after which the kubelet kills a pod that has not ended. */
  readonly grace?: number;
  /** Whether an idle service is scaled to zero; else only requests wake it. */
  readonly sleeps?: boolean;
  readonly replicas?: number;
  readonly type?: "ClusterIP" | "NodePort";
  /** Whether one failed readiness probe makes a pod not ready. */
  readonly flaps?: boolean;
  /** The certificate and the key of a pod that speaks TLS. */
  readonly tls?: Certificate;
  /** Another pod than the HTTP server. It listens on port 8080. */
  readonly pod?: object;
}

/**
 * A resolver as its chart installs it, services behind ClusterIPs, and a client in a pod of its own, on a real node.
 */
export class TrafficSite {
  readonly #cluster: ClusterAccess;
  readonly #namespace: string;
  readonly #system: string;
  /** The arguments of kubectl for the namespace of the services. */
  readonly #inPlace: readonly string[];

  private constructor(cluster: ClusterAccess, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#system = `${namespace}-system`;
    this.#inPlace = ["-n", namespace];
  }

  static async start(
    cluster: ClusterAccess,
    release: Release,
    { namespace, isFurther = false, isPair = false }: SiteOptions,
  ): Promise<TrafficSite> {
    const site = new TrafficSite(cluster, namespace);
    for (const name of [site.#system, namespace]) await kubectl(cluster, ["create", "namespace", name]);
    await apply(cluster, site.#pod("client", IDLE), site.#pod("metrics", METRICS), {
      ...site.#serviceObject("metrics", "ClusterIP"),
      spec: { selector: { app: "metrics" }, ports: [{ port: 9090 }] },
    });
    const values = [
      "settings.triggerInterval=1s",
      `settings.watchNamespaces={${namespace}}`,
      `prometheus.address=http://metrics.${namespace}:9090`,
      ...(isFurther ? ["crds.enabled=false"] : []),
      ...(isPair ? await site.#pairValues() : []),
    ];
    await release.helm(
      ...["install", "scale-resolver", release.chart("scale-resolver"), "--namespace", site.#system, "--wait"],
      ...values.flatMap((value) => ["--set", value]),
    );
    await kubectl(cluster, ["wait", "--for=condition=Ready", "pod/client", "pod/metrics", ...site.#inPlace]);
    return site;
  }

  /** Leaves the node to other files of the suite: its CPU is requested by what runs here. */
  async stop(): Promise<void> {
    for (const namespace of [this.#system, this.#namespace])
      await kubectl(this.#cluster, ["scale", "deployments", "--all", "--replicas=0", "-n", namespace]);
  }

  /** Starts a Redis, and names the values of the chart for two replicas that share it. */
  async #pairValues(): Promise<readonly string[]> {
    await this.loadImage(writeRedisImage());
    const redis = { name: "redis", image: REDIS_IMAGE, resources: { requests: CPU } };
    await this.clientPod("redis", { containers: [{ ...redis, readinessProbe: { tcpSocket: { port: 6379 } } }] });
    const { status } = await get<{ status: { podIP: string } }>(this.#cluster, "pod", "redis", ...this.#inPlace);
    await this.resolver("create", "secret", "generic", "redis", `--from-literal=url=redis://${status.podIP}:6379`);
    return ["replicas=2", "state.redis.existingSecret=redis"];
  }

  /** A Deployment, its Service and its ElastiService. */
  async service(name: string, options: ServiceOptions = {}): Promise<void> {
    const { sleeps = false, replicas = 1, type = "ClusterIP" } = options;
    await apply(
      this.#cluster,
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name, namespace: this.#namespace },
        spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, options) },
      },
      this.#serviceObject(name, type),
      this.#elastiService(name, sleeps),
    );
    if (replicas === 0) await this.isIn(name, "Zero");
    else await kubectl(this.#cluster, ["rollout", "status", `deployment/${name}`, ...this.#inPlace]);
    await this.isFollowed(name);
  }

  /**
   * Resolves when the node has followed a service that got its first endpoint: until then it refuses connections. None
   * of them wakes a service.
   */
  async isFollowed(name: string): Promise<void> {
    const address = await this.address(name);
    await kubectl(this.#cluster, ["exec", "client", ...this.#inPlace, "--", NODE, "-e", CONNECT, address]);
  }

  /** Deletes a service's ElastiService and creates it again. */
  async manageAgain(name: string): Promise<void> {
    await kubectl(this.#cluster, ["delete", "elastiservice", name, ...this.#inPlace, "--timeout=60s"]);
    await apply(this.#cluster, this.#elastiService(name, false));
  }

  /** Resolves when a service is in a state, and nothing of its pods is left if that is Zero. */
  async isIn(name: string, state: string): Promise<void> {
    await waitUntil(`${name} to be in ${state}`, async () => {
      const { status } = await get<{ status?: { state?: string } }>(
        this.#cluster,
        "elastiservice",
        name,
        ...this.#inPlace,
      );
      const pods = state === "Zero" ? await list(this.#cluster, "pods", ...this.#inPlace, "-l", `app=${name}`) : [];
      return status?.state === state && pods.length === 0
        ? undefined
        : `it is in ${status?.state ?? "none"} with ${pods.length} pods`;
    });
  }

  /**
   * What becomes of requests from a pod, that of the client unless another is named, to a service, at its ClusterIP
   * unless the load says otherwise.
   */
  async load(
    name: string,
    load: Omit<Load, "url"> & { readonly url?: string; readonly from?: string },
  ): Promise<Tally> {
    // By address: names would be looked up for each request, and tested with it.
    const url = `${load.ca ? "https" : "http"}://${await this.address(name)}:80/`;
    return this.inPod<Tally>(load.from ?? "client", ["-e", CLIENT], { url, ...load });
  }

  /** The ClusterIP of a service. */
  async address(name: string): Promise<string> {
    const { spec } = await get<{ spec: { clusterIP: string } }>(this.#cluster, "service", name, ...this.#inPlace);
    return spec.clusterIP;
  }

  /** Runs a program of Node in a pod, with an argument, and returns the JSON that it prints. */
  async inPod<T>(pod: string, program: readonly string[], argument: object): Promise<T> {
    const args = ["exec", pod, ...this.#inPlace, "--", NODE, ...program, JSON.stringify(argument)];
    return JSON.parse(await kubectl(this.#cluster, args, { deadlineMs: 1_800_000 })) as T;
  }

  /** Creates a pod that waits for programs to run in it. */
  async clientPod(name: string, spec: object): Promise<void> {
    await apply(this.#cluster, { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: this.#namespace }, spec });
    await kubectl(this.#cluster, ["wait", "--for=condition=Ready", `pod/${name}`, ...this.#inPlace, "--timeout=60s"]);
  }

  /** Puts a file into a ConfigMap of that name. */
  async configMap(name: string, file: string): Promise<void> {
    await kubectl(this.#cluster, ["create", "configmap", name, `--from-file=${file}`, ...this.#inPlace]);
  }

  async loadImage(archive: string): Promise<void> {
    await this.#cluster.loadImage(archive);
  }

  /** Asks a pod of a service itself, whatever its Service would do. */
  async askPod(name: string, path: string): Promise<string> {
    const program = `fetch("http://127.0.0.1:8080${path}").then(async (answer) => console.log(await answer.text()))`;
    return kubectl(this.#cluster, ["exec", `deployment/${name}`, ...this.#inPlace, "--", NODE, "-e", program]);
  }

  /**
   * When a pod of a service became ready, in milliseconds since 1970, rounded down to seconds; waits until one did
   * after `from`.
   */
  async readySince(name: string, from: number): Promise<number> {
    return this.#readySince(from, ...this.#inPlace, "-l", `app=${name}`);
  }

  /** The same for a pod of the resolver. */
  async resolverReadySince(pod: string, from: number): Promise<number> {
    return this.#readySince(from, "-n", this.#system, "--field-selector", `metadata.name=${pod}`);
  }

  async #readySince(from: number, ...which: readonly string[]): Promise<number> {
    let since = 0;
    await waitUntil("a pod to be ready again", async () => {
      const pods = await list<{
        status: { conditions?: { type: string; status: string; lastTransitionTime: string }[] };
      }>(...([this.#cluster, "pods", ...which] as const));
      const ready = pods.flatMap(({ status }) =>
        (status.conditions ?? []).filter(({ type, status: is }) => type === "Ready" && is === "True"),
      );
      since = Math.max(0, ...ready.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime)));
      return since > from ? undefined : "none is";
    });
    return since;
  }

  async scale(name: string, replicas: number): Promise<void> {
    await kubectl(this.#cluster, ["scale", "deployment", name, `--replicas=${replicas}`, ...this.#inPlace]);
  }

  async deletePods(name: string): Promise<void> {
    await kubectl(this.#cluster, ["delete", "pods", "-l", `app=${name}`, ...this.#inPlace, "--wait=false"]);
  }

  /** Address and port at which a Service is reached from outside of the cluster. */
  async nodePort(name: string): Promise<string> {
    const { spec } = await get<{ spec: { ports: { nodePort: number }[] } }>(
      this.#cluster,
      "service",
      name,
      ...this.#inPlace,
    );
    const [node] = await list<{ status: { addresses: { type: string; address: string }[] } }>(this.#cluster, "nodes");
    const address = node?.status.addresses.find(({ type }) => type === "InternalIP")?.address ?? "";
    return `http://${address}:${spec.ports[0]?.nodePort ?? 0}/`;
  }

  /**
   * Resolves when the kubelet has evicted so many pods of a service. A pod whose containers are always restarted ends
   * only by that, and has succeeded if its program ended by itself before it was killed.
   */
  async evictions(name: string, count: number): Promise<void> {
    await waitUntil(`${count} pods of ${name} to be evicted`, async () => {
      const pods = await list<{ status: { phase: string } }>(
        ...([this.#cluster, "pods", ...this.#inPlace, "-l", `app=${name}`] as const),
      );
      const phases = pods.map(({ status }) => status.phase);
      const ended = phases.filter((phase) => phase === "Failed" || phase === "Succeeded").length;
      return ended >= count ? undefined : `they are ${phases.join(", ")}`;
    });
  }

  /** Runs kubectl on the resolver's namespace. */
  async resolver(...args: readonly string[]): Promise<string> {
    return kubectl(this.#cluster, [...args, "-n", this.#system], { deadlineMs: 180_000 });
  }

  /** When a resolver became the leader, in milliseconds since 1970; waits until one did after `from`. */
  async ledSince(from: number): Promise<number> {
    let led = 0;
    await waitUntil("another resolver to lead", async () => {
      const { leader, since } = await this.leads();
      led = since;
      return leader !== "" && since > from ? undefined : "none leads";
    });
    return led;
  }

  /** The name of the leader's pod, empty if there is none, and when it became that. */
  async leads(): Promise<{ readonly leader: string; readonly since: number }> {
    const { spec } = await get<{ spec: { holderIdentity?: string; acquireTime?: string } }>(
      ...([this.#cluster, "lease", "scale-resolver", "-n", this.#system] as const),
    );
    const { holderIdentity = "", acquireTime = "" } = spec;
    return { leader: holderIdentity.split("_")[0] ?? "", since: Date.parse(acquireTime) };
  }

  /** Kills the process of a resolver. Its container is started again. */
  async killResolver(pod: string): Promise<void> {
    await this.#cluster.killContainers(this.#system, pod);
  }

  /** Kills the process of a resolver, and its pod is gone at once, as when its node fails and the pod is deleted. */
  async removeResolver(pod: string): Promise<void> {
    await this.killResolver(pod);
    await this.resolver("delete", "pod", pod, "--grace-period=0", "--force", "--ignore-not-found");
  }

  /**
   * When an EndpointSlice has led a service's connections to the resolver, in milliseconds since 1970; waits until one
   * does.
   */
  async redirected(name: string): Promise<number> {
    const label = `kubernetes.io/service-name=${name},endpointslice.kubernetes.io/managed-by=${MANAGER}`;
    await waitUntil(`${name} to be redirected`, async () => {
      const slices = await list<{ endpoints?: { conditions?: { ready?: boolean } }[] | null }>(
        ...([this.#cluster, "endpointslices", ...this.#inPlace, "-l", label] as const),
      );
      const ready = slices.flatMap(({ endpoints }) => endpoints ?? []).some(({ conditions }) => conditions?.ready);
      return ready ? undefined : "no slice of the resolver has a ready endpoint";
    });
    return Date.now();
  }

  /** The names of the resolver's pods, without those that terminate. */
  async resolverPods(): Promise<readonly string[]> {
    const pods = await list<{ metadata: { name: string; deletionTimestamp?: string } }>(
      ...([this.#cluster, "pods", "-n", this.#system, "-l", "app.kubernetes.io/name=scale-resolver"] as const),
    );
    return pods.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
  }

  /** Resolves when a pod of the resolver terminates, with the time. */
  async terminates(pod: string): Promise<number> {
    await waitUntil(`${pod} to terminate`, async () =>
      (await this.resolverPods()).includes(pod) ? "it has not been deleted" : undefined,
    );
    return Date.now();
  }

  /** Resolves when the resolvers hold so many requests of a service. */
  async holds(service: string, count: number): Promise<void> {
    await waitUntil(`${count} requests of ${service} to be held`, async () => {
      const held = await this.held(service);
      return held === count ? undefined : `there are ${held}`;
    });
  }

  /** The requests of a service that pods of the resolver hold, by default all pods. */
  held(service: string, pods?: readonly string[]): Promise<number> {
    return this.metric("evenkeel_resolver_pending", { service }, pods);
  }

  /** Resolves when the resolver has counted requests or connections of a service that it held. */
  async hasHeld(service: string): Promise<void> {
    await waitUntil(`held requests of ${service}`, async () => {
      const count = await this.metric("evenkeel_resolver_held_seconds_count", { service });
      return count > 0 ? undefined : "none is counted";
    });
  }

  /** The sum of a metric's series with some labels, of some pods of the resolver, by default of all. */
  async metric(name: string, labels: Readonly<Record<string, string>>, pods?: readonly string[]): Promise<number> {
    let sum = 0;
    for (const pod of pods ?? (await this.resolverPods())) {
      const path = `/api/v1/namespaces/${this.#system}/pods/${pod}:21080/proxy/metrics`;
      const { stdout } = await this.#cluster.kubectl(["get", "--raw", path]);
      for (const line of stdout.split("\n")) {
        const has = (label: string) => line.includes(`${label}="${labels[label] ?? ""}"`);
        if (line.startsWith(`${name}{`) && Object.keys(labels).every(has)) sum += Number(line.split(" ").at(-1));
      }
    }
    return sum;
  }

  #serviceObject(name: string, type: string) {
    const spec = { type, selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] };
    return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: this.#namespace }, spec };
  }

  #elastiService(name: string, sleeps: boolean) {
    const triggers = [{ type: "prometheus", metadata: { query: "requests", threshold: "0.5" } }];
    return {
      apiVersion: "elasti.truefoundry.com/v1alpha1",
      kind: "ElastiService",
      metadata: { name, namespace: this.#namespace },
      spec: {
        service: name,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        ...{ cooldownPeriod: 1, quietPeriod: 1 },
        ...(sleeps ? { triggers } : {}),
      },
    };
  }

  #pod(name: string, program: string): object {
    const metadata = { name, namespace: this.#namespace, labels: { app: name } };
    return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [container([program])] } };
  }
}

function template(
  name: string,
  { start = 0, drain = 2000, grace = 30, flaps = false, tls, pod: spec }: ServiceOptions,
): object {
  const failureThreshold = flaps ? 1 : 3;
  const scheme = tls ? "HTTPS" : "HTTP";
  const more = {
    env: [{ name: "START", value: String(start) }, { name: "DRAIN", value: String(drain) }, ...environment(tls)],
    readinessProbe: {
      ...{ httpGet: { path: "/readyz", port: 8080, scheme }, periodSeconds: 1, timeoutSeconds: 5, failureThreshold },
    },
    // The kubelet evicts a pod that writes more.
    resources: { requests: CPU, limits: { "ephemeral-storage": "2Mi" } },
  };
  return {
    metadata: { labels: { app: name } },
    spec: spec ?? { containers: [container([SERVER], more)], terminationGracePeriodSeconds: grace },
  };
}

function container(args: readonly string[], more: object = {}): object {
  return { name: "node", image: NODE_IMAGE, args: ["-e", ...args], resources: { requests: CPU }, ...more };
}
