import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceProcess, type ServiceProcessOptions } from "@evenkeel/testkit";
import { connectKube, deployments, type KubeClient, pods, services } from "@evenkeel/kube";
import {
  type ApiServer,
  controlPlane,
  type DataPlane,
  dataPlane,
  FaultPlan,
  podPrograms,
  type Prometheus,
  simNode,
  startApiServer,
  startPrometheus,
  workloads,
} from "@evenkeel/sim";
import { parse } from "yaml";
import { elastiServices, type StoredElastiService } from "../src/elasti-service-resource.ts";
import { EchoPod, PORT, type Seen, textOf } from "./echo-pod.ts";
import { UnderWay } from "./under-way.ts";

const root = join(import.meta.dirname, "../../..");
/** What the image holds; `nx run scale-resolver:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

const USER = { name: "admin", groups: ["system:masters"], token: "secret" };

/** Of this test's own calls. */
const USER_AGENT = "tests";

/** The query of the triggers of these tests. */
export const QUERY = "sum(requests)";
const UPTIME = 'min_over_time((max(up{container="prometheus"}) or vector(0))[1s:])';

export interface WorldOptions {
  /** From a pod's creation until it is ready. */
  readonly startDelay?: number;
  /** From a pod's deletion until it is gone, whatever is under way. */
  readonly terminationDelay?: number;
  /**
   * From a pod's deletion until it ends by itself, in the first moment without a request of its Service under way: what breaks half way may be lost with
   * any program. Unless told it serves until it is gone.
   */
  readonly leaveDelay?: number;
  /** After which a node sees a change of EndpointSlices. */
  readonly nodeLag?: (node: string) => number;
  /** How long after it is ready a pod refuses connections. */
  readonly refuse?: number;
  /** The definition of ElastiServices checks nothing, as one of another release may not. */
  readonly lenient?: boolean;
  /** Of the addresses of its pods and nodes: no other file's worlds may have it, since they run beside each other. */
  readonly number?: number;
}

/**
 * A cluster, a metric server and pods that answer in this process, for the real service beside it. Every address is one of loopback: a
 * pod listens at its own, and a Service is reached as kube-proxy would let it be.
 */
export class World implements AsyncDisposable {
  readonly folder: string;
  readonly api: ApiServer;
  readonly faults: FaultPlan;
  readonly prometheus: Prometheus;
  readonly kube: KubeClient;
  readonly plane: DataPlane;
  readonly seen: Seen[];
  /** Calls of the API server that are not this test's own, such as `PATCH /apis/apps/v1/namespaces/default/deployments/shop/scale`. */
  readonly calls: string[];
  readonly #processes: ServiceProcess[] = [];
  readonly #running: ReadonlySet<EchoPod>;
  readonly #underWay: UnderWay;
  readonly #number: number;
  readonly #claim: Server;
  /** What the triggers read; null is no sample at all. */
  metric: number | null = 5;

  private constructor(
    parts: Pick<World, "folder" | "api" | "faults" | "prometheus" | "plane" | "seen" | "calls">,
    running: ReadonlySet<EchoPod>,
    underWay: UnderWay,
    number: number,
    claim: Server,
  ) {
    this.folder = parts.folder;
    this.api = parts.api;
    this.faults = parts.faults;
    this.prometheus = parts.prometheus;
    this.plane = parts.plane;
    this.seen = parts.seen;
    this.calls = parts.calls;
    this.#running = running;
    this.#underWay = underWay;
    this.#number = number;
    this.#claim = claim;
    const settings = {
      kubeconfig: this.kubeconfig,
      kubeContext: undefined,
      kubeDeadline: 5000,
      kubeConnections: 4,
      kubeQps: 0,
      kubeBurst: 100,
    };
    this.kube = connectKube({ settings, env: {}, userAgent: USER_AGENT });
    this.prometheus.answer(QUERY, () => ({
      kind: "vector",
      samples: this.metric === null ? [] : [{ metric: {}, value: this.metric }],
    }));
    this.prometheus.answer(UPTIME, () => ({ kind: "vector", samples: [{ metric: {}, value: 1 }] }));
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const { startDelay = 300, terminationDelay = 500, nodeLag = () => 0, number = 1, lenient } = options;
    const { refuse = 0, leaveDelay = Infinity } = options;
    const claim = await claimed(number);
    const folder = await mkdtemp(join(tmpdir(), "scale-resolver-"));
    const seen: Seen[] = [];
    const running = new Set<EchoPod>();
    const underWay = new UnderWay();
    const faults = new FaultPlan();
    const calls: string[] = [];
    const plane = dataPlane({ nodeLag, locate: ({ address, port }) => ({ host: address, port }) });
    const kubelet = { startDelay, terminationDelay, podCidr: `127.${50 + number}.0.0/16` };
    const api = await startApiServer({
      users: [USER],
      faults: (request, response) => {
        const { method = "", url = "", headers } = request;
        if (headers["user-agent"]?.startsWith(USER_AGENT) !== true) calls.push(`${method} ${url}`);
        return faults.faults(request, response);
      },
      behaviours: [
        ...controlPlane,
        ...workloads(kubelet),
        podPrograms((pod) => new EchoPod(pod, { seen, refuse, leaveDelay, underWay, running })),
        plane.behaviour,
      ],
    });
    const definition = await readFile(
      join(root, "charts/scale-resolver/files/crds/elasti.truefoundry.com_elastiservices.yaml"),
      "utf8",
    );
    api.load(lenient === true ? unchecked(definition) : definition);
    api.load(JSON.stringify(simNode("node-a", { cpu: "64", memory: "64Gi", pods: 500 })));
    const prometheus = await startPrometheus();
    await writeFile(join(folder, "kubeconfig"), kubeconfigFor(api.url));
    return new World({ folder, api, faults, prometheus, plane, seen, calls }, running, underWay, number, claim);
  }

  get kubeconfig(): string {
    return join(this.folder, "kubeconfig");
  }

  /** Ports for Services that no other world has. */
  get portRange(): string {
    return `${20_000 + this.#number * 100}-${20_099 + this.#number * 100}`;
  }

  /** The flags that a service in this world needs; those that are given win. */
  flags(given: readonly string[] = []): readonly string[] {
    const isGiven = (name: string) => given.some((flag) => flag.startsWith(`--${name}`));
    const defaults = {
      kubeconfig: this.kubeconfig,
      state: "sqlite::memory:",
      insecure: "true",
      "grpc-port": "0",
      port: "0",
      "port-range": this.portRange,
      "trigger-interval": "300ms",
      settle: "200ms",
      "warm-up": "0s",
      "lease-duration": "3s",
      "lease-renew-deadline": "2s",
      "lease-retry-period": "300ms",
    };
    const rest = Object.entries(defaults).flatMap(([name, value]) => (isGiven(name) ? [] : [`--${name}=${value}`]));
    return [...given, ...rest];
  }

  /** Starts the service as a process of its own. */
  serve(flags: readonly string[] = [], options: ServiceProcessOptions = {}): ServiceProcess {
    const service = ServiceProcess.start(main, this.flags(flags), options);
    this.#processes.push(service);
    return service;
  }

  /** A Deployment and its Service. */
  async workload(name: string, replicas = 1): Promise<void> {
    const labels = { app: name };
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
    await this.kube.resource(services).create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "default", name, labels },
      spec: {
        clusterIP: this.clusterAddress(name),
        ipFamilies: ["IPv4"],
        selector: labels,
        ports: [{ name: "http", port: PORT, targetPort: PORT }],
      },
    });
    const at = { host: this.clusterAddress(name), port: PORT };
    await this.plane.reach({ node: "cluster", namespace: "default", service: name, port: PORT, at });
  }

  clusterAddress(name: string): string {
    let part = 7;
    for (const letter of name) part = (part * 31 + letter.charCodeAt(0)) % 65_000;
    return `127.${150 + this.#number}.${Math.floor(part / 256)}.${(part % 254) + 1}`;
  }

  /** An ElastiService of the workload and Service `name`, which can fall asleep after a second. */
  async elasti(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<StoredElastiService> {
    const metadata = { query: QUERY, serverAddress: this.prometheus.url, threshold: "0.5" };
    const object = { apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService" };
    const spec = {
      service: name,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minTargetReplicas: 1,
      cooldownPeriod: 1,
      quietPeriod: 1,
      triggers: [{ type: "prometheus", metadata }],
      ...change,
    };
    return this.kube.resource(elastiServices).create({ ...object, metadata: { namespace: "default", name }, spec });
  }

  get(name: string): Promise<StoredElastiService> {
    return this.kube.resource(elastiServices).get({ namespace: "default", name });
  }

  async replicas(name: string): Promise<number> {
    const { spec } = await this.kube.resource(deployments).scale.get({ namespace: "default", name });
    return spec.replicas ?? 0;
  }

  async scale(name: string, replicas: number): Promise<void> {
    const body = { spec: { replicas } };
    await this.kube.resource(deployments).scale.patch({ namespace: "default", name }, { type: "merge", body });
  }

  /** Resolves when a workload has no pods any more. */
  async isEmpty(name: string): Promise<void> {
    await eventually(async () => {
      const { items } = await this.kube.resource(pods).list({ namespace: "default", labelSelector: `app=${name}` });
      if (items.length > 0) throw new Error(`${name} still has ${items.length} pods`);
    });
  }

  async inState(name: string, state: string, limit?: number): Promise<StoredElastiService> {
    return eventually(async () => {
      const object = await this.get(name);
      if (object.status?.state !== state) throw new Error(`${name} is ${JSON.stringify(object.status)}`);
      return object;
    }, limit);
  }

  /**
   * Resolves when a service sleeps and the resolver knows that nothing is left of its pods. That pods are gone is not enough: until the resolver
   * hears of it, requests still go to them.
   */
  async sleeps(name: string, limit?: number): Promise<void> {
    await this.inState(name, "Zero", limit);
    await this.isEmpty(name);
    await eventually(async () => {
      const { status } = await this.get(name);
      const reason = status?.conditions?.find(({ type }) => type === "Ready")?.reason;
      // Of the reasons in Zero, those two say that nothing serves.
      if (reason !== "Asleep" && reason !== "ScaledToZero") throw new Error(`${name} is ${JSON.stringify(status)}`);
    });
  }

  /** What a client gets from a Service, by a connection of its own; on a node of its own if it is told which. */
  async ask(name: string, options: AskOptions = {}): Promise<Answer> {
    const { node, ...rest } = options;
    const place =
      node === undefined
        ? { host: this.clusterAddress(name), port: PORT }
        : await this.plane.reach({ node, namespace: "default", service: name, port: PORT });
    return this.#underWay.during(name, () => ask(place, rest));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((service) => service[Symbol.asyncDispose]()));
    await this.kube.stop();
    await Promise.all([this.api.stop(), this.prometheus.stop()]);
    for (const pod of this.#running) pod.kill();
    await rm(this.folder, { recursive: true, force: true });
    this.#claim.close();
    await once(this.#claim, "close");
  }
}

/** Takes the addresses of a world, until it is closed. Fails if another world has them, whose pods would get this one's requests. */
async function claimed(number: number): Promise<Server> {
  const server = createServer().listen(PORT, `127.${50 + number}.255.254`);
  await once(server, "listening");
  return server;
}

export interface AskOptions {
  readonly node?: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export async function ask(
  place: { readonly host: string; readonly port: number },
  options: AskOptions = {},
): Promise<Answer> {
  const { method = "GET", path = "/", body = "", headers = {} } = options;
  const asked = request({ ...place, method, path, headers, agent: false });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await textOf(answer) };
}

/** Resolves when `check` does not throw any more. Fails with what it threw last after `limit` milliseconds. */
export async function eventually<T>(check: () => T | Promise<T>, limit = 15_000): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** A definition without its schema. */
function unchecked(definition: string): string {
  const parsed = parse(definition) as { spec: { versions: { schema: unknown }[] } };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  for (const version of parsed.spec.versions) version.schema = schema;
  return JSON.stringify(parsed);
}

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "sim", cluster: { server } }],
    users: [{ name: "admin", user: { token: USER.token } }],
    contexts: [{ name: "sim", context: { cluster: "sim", user: "admin" } }],
    "current-context": "sim",
  });
}
