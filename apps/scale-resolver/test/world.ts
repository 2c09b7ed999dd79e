import { join } from "node:path";
import { deployments, services } from "@evenkeel/kube";
import {
  controlPlane,
  type DataPlane,
  dataPlane,
  FaultPlan,
  podPrograms,
  type Prometheus,
  simNode,
  startPrometheus,
  workloads,
} from "@evenkeel/sim";
import {
  definitionOf,
  loopbackAddresses,
  type LoopbackAddresses,
  type WorldParts,
  worldParts,
} from "@evenkeel/testkit";
import { parse } from "yaml";
import { elastiServices, type StoredElastiService } from "../src/elasti-service-resource.ts";
import { type Answer, ask, type AskOptions } from "./ask.ts";
import { EchoPod, PORT, type Received } from "./echo-pod.ts";
import { InFlight } from "./in-flight.ts";
import { ObjectsWorld, USER_AGENT } from "./objects-world.ts";

/** What the image holds; `nx run scale-resolver:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

export interface WorldOptions {
  /** From a pod's creation until it is ready. */
  readonly startDelay?: number;
  /** From a pod's deletion until it is removed, with any requests in flight. */
  readonly terminationDelay?: number;
  /**
   * From a pod's deletion until its program ends by itself, at the next moment without requests of its Service, because
   * any program may lose requests that it has begun. Default: it serves until the pod is removed.
   */
  readonly exitDelay?: number;
  /** After which a node sees a change of EndpointSlices. */
  readonly nodeLag?: (node: string) => number;
  /** How long after it is ready a pod refuses connections. */
  readonly refuse?: number;
  /** The definition of ElastiServices checks nothing, as one of another release may not. */
  readonly lenient?: boolean;
}

/** The parts of a world except the API server and the service's processes. */
interface Parts {
  readonly addresses: LoopbackAddresses;
  readonly faults: FaultPlan;
  readonly prometheus: Prometheus;
  readonly plane: DataPlane;
  readonly received: Received[];
  readonly calls: string[];
  readonly running: ReadonlySet<EchoPod>;
  readonly inFlight: InFlight;
}

/**
 * A cluster, a metric server and pods that answer in this process, for the real service as a process of its own. Every
 * address is one of loopback: a pod listens at its own, and a Service is reached as kube-proxy would let it be. Cases
 * that share a world have services of their own: each has its own traffic, and what pods receive is told apart by
 * service.
 */
export class World extends ObjectsWorld {
  readonly faults: FaultPlan;
  readonly prometheus: Prometheus;
  readonly plane: DataPlane;
  /** What the pods of all services have received. */
  readonly received: Received[];
  /**
   * Calls of the API server that are not this test's own, such as
   * `PATCH /apis/apps/v1/namespaces/default/deployments/shop/scale`.
   */
  readonly calls: string[];
  /** What the trigger of a service reads: busy unless set; null is no sample at all. */
  readonly traffic = new Map<string, number | null>();
  readonly #addresses: LoopbackAddresses;
  readonly #inFlight: InFlight;
  readonly #running: ReadonlySet<EchoPod>;

  private constructor(base: WorldParts, parts: Parts) {
    super(base);
    this.#addresses = parts.addresses;
    this.faults = parts.faults;
    this.plane = parts.plane;
    this.received = parts.received;
    this.calls = parts.calls;
    this.#inFlight = parts.inFlight;
    this.#running = parts.running;
    this.prometheus = this.use(parts.prometheus);
    this.serverIsUpFor(1);
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const { startDelay = 300, terminationDelay = 500, nodeLag = () => 0, lenient = false } = options;
    const { refuse = 0, exitDelay = Infinity } = options;
    const addresses = await loopbackAddresses();
    const received: Received[] = [];
    const running = new Set<EchoPod>();
    const inFlight = new InFlight();
    const faults = new FaultPlan();
    const calls: string[] = [];
    const plane = dataPlane({ nodeLag, locate: ({ address, port }) => ({ host: address, port }) });
    const base = await worldParts({
      service: "scale-resolver",
      main,
      flags: {
        port: "0",
        "port-range": addresses.ports,
        "trigger-interval": "300ms",
        settle: "200ms",
        "warm-up": "0s",
      },
      server: {
        faults: (request, response) => {
          const { method = "", url = "", headers } = request;
          if (headers["user-agent"]?.startsWith(USER_AGENT) !== true) calls.push(`${method} ${url}`);
          return faults.faults(request, response);
        },
        behaviours: [
          ...controlPlane,
          ...workloads({ startDelay, terminationDelay, podCidr: addresses.range }),
          podPrograms((pod) => new EchoPod(pod, { received, refuse, exitDelay, inFlight, running })),
          plane.behaviour,
        ],
      },
    });
    const definition = definitionOf("elastiservices");
    base.api.load(lenient ? unchecked(definition) : definition);
    base.api.load(JSON.stringify(simNode("node-a", { cpu: "64", memory: "64Gi", pods: 500 })));
    const prometheus = await startPrometheus();
    return new World(base, { addresses, faults, prometheus, plane, received, calls, running, inFlight });
  }

  /** Ports for Services that no other world has. */
  get portRange(): string {
    return this.#addresses.ports;
  }

  /** A Deployment and its Service. */
  async workload(name: string, replicas = 1): Promise<void> {
    await this.deployment(name, { app: name }, replicas);
    await this.kube.resource(services).create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "default", name, labels: { app: name } },
      spec: {
        clusterIP: this.clusterAddress(name),
        ipFamilies: ["IPv4"],
        selector: { app: name },
        ports: [{ name: "http", port: PORT, targetPort: PORT }],
      },
    });
    const at = { host: this.clusterAddress(name), port: PORT };
    await this.plane.reach({ node: "cluster", namespace: "default", service: name, port: PORT, at });
  }

  /** A Deployment with these pod labels. Its pods receive the requests of the Service `app`. */
  async deployment(
    name: string,
    labels: Readonly<Record<string, string>> & { readonly app: string },
    replicas = 1,
  ): Promise<void> {
    await this.kube.resource(deployments).create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { namespace: "default", name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "echo" }] } },
      },
    });
  }

  clusterAddress(name: string): string {
    return this.#addresses.of(name);
  }

  /** An address for a replica of the service that no other process has. */
  replicaAddress(): string {
    return this.#addresses.next();
  }

  /** Another port of a Service, reached as its clients do. */
  async reach(name: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
    const at = { host: this.clusterAddress(name), port };
    await this.plane.reach({ node: "cluster", namespace: "default", service: name, port, at });
    return at;
  }

  /** A trigger that reads the traffic of `name`. */
  trigger(name: string) {
    const query = `sum(requests{service="${name}"})`;
    this.prometheus.answer(query, () => {
      const value = this.traffic.get(name);
      return { kind: "vector", samples: value === null ? [] : [{ metric: {}, value: value ?? 5 }] };
    });
    return { type: "prometheus", metadata: { query, serverAddress: this.prometheus.url, threshold: "0.5" } };
  }

  /** The metric server was up for a whole cooldown of so many seconds; of one second it was in every world. */
  serverIsUpFor(seconds: number): void {
    const query = `min_over_time((max(up{container="prometheus"}) or vector(0))[${seconds}s:])`;
    this.prometheus.answer(query, () => ({ kind: "vector", samples: [{ metric: {}, value: 1 }] }));
  }

  /** An ElastiService of the workload and Service `name`, which can fall asleep after a second. */
  async elasti(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<StoredElastiService> {
    return this.create(name, {
      service: name,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minTargetReplicas: 1,
      cooldownPeriod: 1,
      quietPeriod: 1,
      triggers: [this.trigger(name)],
      ...change,
    });
  }

  /** An ElastiService of a spec as it is. */
  async create(name: string, spec: Readonly<Record<string, unknown>>): Promise<StoredElastiService> {
    const object = { apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService" };
    return this.kube.resource(elastiServices).create({ ...object, metadata: { namespace: "default", name }, spec });
  }

  /**
   * A service that sleeps. Its workload has 0 replicas from the start, which saves the periods without traffic; its
   * trigger reads idle. A process must serve already.
   */
  async asleep(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<StoredElastiService> {
    this.traffic.set(name, 0);
    await this.workload(name, 0);
    const object = await this.elasti(name, change);
    await this.sleeps(name);
    return object;
  }

  /**
   * A service that scale-resolver itself scales to zero, after its periods without traffic, with its autoscaler paused.
   * A process must already serve.
   */
  async fallsAsleep(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<void> {
    this.traffic.set(name, 0);
    await this.workload(name);
    await this.elasti(name, change);
    await this.sleeps(name);
  }

  /**
   * A service at 0 replicas that only a request wakes, and that does not fall asleep again: by default it has no
   * triggers.
   */
  async atZero(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.asleep(name, { triggers: undefined, ...change });
  }

  /** How often the service has scaled a workload. */
  scaleCalls(name: string): number {
    return this.calls.filter((call) => call.startsWith("PATCH ") && call.endsWith(`/deployments/${name}/scale`)).length;
  }

  /** What the pods of a service have received. */
  receivedBy(service: string): readonly Received[] {
    return this.received.filter((one) => one.service === service);
  }

  /** The response of a Service to a client with a new connection, on a given node if there is one. */
  async ask(name: string, options: AskOptions & { readonly node?: string } = {}): Promise<Answer> {
    const { node, ...rest } = options;
    const place =
      node === undefined
        ? { host: this.clusterAddress(name), port: PORT }
        : await this.plane.reach({ node, namespace: "default", service: name, port: PORT });
    return this.#inFlight.during(name, () => ask(place, rest));
  }

  /** The statuses of so many requests at once. */
  async askAll(name: string, count: number, options: AskOptions = {}): Promise<readonly number[]> {
    const answers = Array.from({ length: count }, (_, index) => this.ask(name, { path: `/${index}`, ...options }));
    return (await Promise.all(answers)).map(({ status }) => status);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    for (const pod of this.#running) pod.kill();
    await this.#addresses[Symbol.asyncDispose]();
  }
}

/** `what`, so many times. */
export function times<T>(count: number, what: T): readonly T[] {
  return Array.from({ length: count }, () => what);
}

/** A definition without its schema. */
function unchecked(definition: string): string {
  const parsed = parse(definition) as { spec: { versions: { schema: unknown }[] } };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  for (const version of parsed.spec.versions) version.schema = schema;
  return JSON.stringify(parsed);
}
