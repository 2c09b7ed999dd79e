import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { ServiceProcess } from "@evenkeel/testkit";
import {
  type ApiServer,
  type RecordSet,
  type Route53,
  startApiServer,
  startPrometheus,
  startRoute53,
  type Prometheus,
} from "@evenkeel/sim";
import { rebalances, type StoredRebalance } from "../src/rebalance-resource.ts";

const root = join(import.meta.dirname, "../../..");
/** What the image holds; `nx run weight-rebalancer:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

const USER = { name: "admin", groups: ["system:masters"], token: "secret" };

/** Route 53 in this process takes any. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };

/** The metric that the Rebalances of these tests follow. */
export const QUERY = "sum(requests)";

/** A cluster, a DNS zone and a metric server in this process, for the real service beside it. */
export class World implements AsyncDisposable {
  readonly folder: string;
  readonly api: ApiServer;
  readonly route53: Route53;
  readonly prometheus: Prometheus;
  readonly kube: KubeClient;
  readonly #processes: ServiceProcess[] = [];
  /** What the metric is; null is no sample at all. */
  metric: number | null = 3000;

  private constructor(folder: string, api: ApiServer, route53: Route53, prometheus: Prometheus) {
    this.folder = folder;
    this.api = api;
    this.route53 = route53;
    this.prometheus = prometheus;
    const settings = {
      kubeconfig: this.kubeconfig,
      kubeContext: undefined,
      kubeDeadline: 5000,
      kubeConnections: 4,
      kubeQps: 0,
      kubeBurst: 100,
    };
    this.kube = connectKube({ settings, env: {}, userAgent: "tests" });
    prometheus.answer(QUERY, () => ({
      kind: "vector",
      samples: this.metric === null ? [] : [{ metric: {}, value: this.metric }],
    }));
  }

  static async start(records: readonly RecordSet[] = twoSites("www.example.com")): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "weight-rebalancer-"));
    const api = await startApiServer({ users: [USER] });
    api.load(
      await readFile(
        join(root, "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml"),
        "utf8",
      ),
    );
    const route53 = await startRoute53({ propagation: 200 });
    route53.addZone("Z1", "example.com", records);
    const prometheus = await startPrometheus();
    await writeFile(join(folder, "kubeconfig"), kubeconfigFor(api.url));
    return new World(folder, api, route53, prometheus);
  }

  get kubeconfig(): string {
    return join(this.folder, "kubeconfig");
  }

  /** The flags that a service in this world needs; those that are given win. */
  flags(given: readonly string[] = []): readonly string[] {
    const isGiven = (name: string) => given.some((flag) => flag.startsWith(`--${name}`));
    const defaults = {
      kubeconfig: this.kubeconfig,
      state: "sqlite::memory:",
      insecure: "true",
      "grpc-port": "0",
      "route53-batch-window": "50ms",
      "lease-duration": "3s",
      "lease-renew-deadline": "2s",
      "lease-retry-period": "300ms",
    };
    const rest = Object.entries(defaults).flatMap(([name, value]) => (isGiven(name) ? [] : [`--${name}=${value}`]));
    return [...given, ...rest];
  }

  /** Starts the service as a process of its own. */
  serve(flags: readonly string[] = [], env: Readonly<Record<string, string>> = CREDENTIALS): ServiceProcess {
    const service = ServiceProcess.start(main, this.flags(flags), { env: { ...process.env, ...env } });
    this.#processes.push(service);
    return service;
  }

  /** Creates a Rebalance of the record `blue`; `change` overrides parts of its spec. */
  async create(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<StoredRebalance> {
    const object = { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance" };
    const spec = { ...this.spec(), ...change };
    return this.kube.resource(rebalances).create({ ...object, metadata: { namespace: "default", name }, spec });
  }

  spec(identifier = "blue", name = "www.example.com", zone = "Z1"): Readonly<Record<string, unknown>> {
    const resource = { name, type: "A", identifier };
    return {
      interval: "1s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: {
        route53: { hostedZoneID: `hostedzone/${zone}`, region: "us-east-1", endpoint: this.route53.url, resource },
      },
      metrics: { prometheus: { address: this.prometheus.url, query: QUERY } },
    };
  }

  get(name: string): Promise<StoredRebalance> {
    return this.kube.resource(rebalances).get({ namespace: "default", name });
  }

  /** The weight of a record as Route 53 has it. */
  weight(identifier = "blue", zone = "Z1"): number | undefined {
    return this.route53.records(zone).find((record) => record.setIdentifier === identifier)?.weight;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((service) => service[Symbol.asyncDispose]()));
    await this.kube.stop();
    await Promise.all([this.api.stop(), this.route53.stop(), this.prometheus.stop()]);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A name with two weighted records: `base` with weight 8, and `blue` with weight 1. */
export function twoSites(name: string): readonly RecordSet[] {
  const site = (setIdentifier: string, weight: number, address: string): RecordSet => {
    return { name, type: "A", setIdentifier, weight, ttl: 60, values: [address] };
  };
  return [site("base", 8, "192.0.2.1"), site("blue", 1, "192.0.2.2")];
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
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
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
