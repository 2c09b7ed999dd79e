import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apply, type Cluster, kubectl } from "@evenkeel/e2e";
import { connectKube } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { loopbackAddresses, ServiceProcess } from "@evenkeel/testkit";
import { expect } from "@jest/globals";
import { Collector } from "@evenkeel/telemetry";
import { CollectorPods } from "./collector-pods.ts";
import { ScrapeHistory, stallsOf } from "./scrape-history.ts";
import { ScrapedServer } from "./scraped-server.ts";

const main = join(import.meta.dirname, "../dist/main.mjs");

/** Seconds between two scrapes of a target, and between two polls of a collector. */
export const INTERVAL = 5;
export const REFRESH = 5;

/** Seconds for which the targets of a collector that is away wait for it. */
export const SEAT_GRACE = 5;

const PORT = 8082;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface WithConditions {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** What a test changes of the object. */
export interface FleetChanges {
  readonly replicas: number;
  /** Targets of each job. */
  readonly counts: readonly number[];
  /** Jobs besides. */
  readonly more?: readonly object[];
  readonly image?: string;
  readonly restart?: "wait" | "handOver";
  /** Seconds. */
  readonly seatGrace?: number;
}

/**
 * A CollectorLoadBalancer in a namespace of its own, with the real service, which follows only that namespace, real
 * collectors as its pods, and real targets.
 */
export class CollectorFleet implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #name: string;
  readonly #folder: string;
  readonly #host: string;
  readonly #targets: ScrapedServer;
  readonly #resources = new AsyncDisposableStack();
  readonly collectors: CollectorPods;
  /** Scrapes the same targets all the time: if it is late, the machine is busy and nobody is to blame. */
  readonly #steady: Collector;
  #service: ServiceProcess | undefined;

  private constructor(cluster: Cluster, name: string, host: string, targets: ScrapedServer, steady: Collector) {
    this.#cluster = cluster;
    this.#steady = steady;
    this.#name = name;
    this.#host = host;
    this.#targets = targets;
    this.#folder = mkdtempSync(join(tmpdir(), "collector-fleet-"));
    const limits = { kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
    const settings = { kubeconfig: cluster.kubeconfig, kubeContext: undefined, ...limits };
    const kube = connectKube({ settings, env: {}, userAgent: "collectors-e2e" });
    this.collectors = new CollectorPods(kube, {
      namespace: name,
      labelSelector: `app.kubernetes.io/instance=${name}__${name}`,
    });
    this.#resources.defer(() => rmSync(this.#folder, { recursive: true, force: true }));
    this.#resources.use(targets);
    this.#resources.use(steady);
    this.#resources.defer(() => kube.stop());
    this.#resources.defer(() => this.#service?.[Symbol.asyncDispose]());
    this.#resources.use(this.collectors);
  }

  /** `name` is that of the object and of its namespace. */
  static async start(cluster: Cluster, name: string): Promise<CollectorFleet> {
    await kubectl(cluster, ["create", "namespace", name]);
    const addresses = await loopbackAddresses();
    const targets = await ScrapedServer.start();
    const jobs = [jobOf("steady", targets.addresses(50, 200))];
    const steady = await Collector.start({ config: configurationOf(jobs) });
    const fleet = new CollectorFleet(cluster, name, addresses.next(), targets, steady);
    fleet.#resources.use(addresses);
    await fleet.restartService();
    return fleet;
  }

  /** Kills the service if it runs and starts it with the state that it left, at the same address. */
  async restartService(): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
    this.#service = ServiceProcess.start(main, [
      ...[`--kubeconfig=${this.#cluster.kubeconfig}`, `--state=sqlite:${join(this.#folder, "state")}`, "--insecure"],
      ...[`--listen-host=${this.#host}`, "--grpc-port=0", `--target-port=${PORT}`],
      ...[`--target-url=http://${this.#host}:${PORT}`, "--discovery-scope=own"],
      ...[`--watch-namespaces=${this.#name}`, `--lease-namespace=${this.#name}`],
    ]);
    await this.#service.phase("ready");
  }

  async apply(changes: FleetChanges): Promise<void> {
    const { replicas, counts, more = [], image = "collector:1", restart = "wait", seatGrace = SEAT_GRACE } = changes;
    const jobs = counts.map((count, index) => jobOf(`job-${index}`, this.#targets.addresses(count, 1 + 100 * index)));
    await apply(this.#cluster, {
      apiVersion: "otel.k8s.aws/v1",
      kind: "CollectorLoadBalancer",
      metadata: { name: this.#name, namespace: this.#name },
      spec: {
        ...{ replicas, restart, collectorImage: image, collectorConfig: configurationOf([...jobs, ...more]) },
        ...{ targetRefresh: `${REFRESH}s`, placement: { cooldown: "1s", seatGrace: `${seatGrace}s` } },
      },
    });
  }

  /** A condition of the object. */
  async condition(type: string): Promise<Condition | undefined> {
    const answer = await kubectl(this.#cluster, ["get", ...this.#path, "-o", "json"]);
    const { status } = JSON.parse(answer) as WithConditions;
    return status?.conditions?.find((condition) => condition.type === type);
  }

  async scale(replicas: number): Promise<void> {
    await kubectl(this.#cluster, ["scale", ...this.#path, `--replicas=${replicas}`]);
  }

  /** What the fleet's collectors have scraped so far. */
  async history(): Promise<ScrapeHistory> {
    const [scraped, steady] = await Promise.all([this.collectors.scraped(), this.#steady.counts()]);
    return new ScrapeHistory(scraped, stallsOf(steady, INTERVAL * 1000));
  }

  /**
   * Resolves with the collector of each instance once each of `count` is scraped by exactly one, there are `replicas`
   * collectors and each scrapes some.
   */
  async settled(replicas: number, count: number): Promise<ReadonlyMap<string, string>> {
    return eventually(async () => {
      const history = await this.history();
      const owners = history.ownersSince(Date.now() - 1.4 * INTERVAL * 1000);
      const notOnOne = [...owners].filter(([, names]) => names.length !== 1);
      expect({ notOnOne, count: owners.size }).toEqual({ notOnOne: [], count });
      const sole = new Map([...owners].map(([instance, [name = ""]]) => [instance, name]));
      expect([new Set(sole.values()).size, this.collectors.names.length]).toEqual([replicas, replicas]);
      return sole;
    }, 90_000);
  }

  get #path(): readonly string[] {
    return [`collectorloadbalancers/${this.#name}`, "-n", this.#name];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

function jobOf(name: string, targets: readonly string[]): object {
  const scrape = { scrape_interval: `${INTERVAL}s`, scrape_timeout: "2s" };
  return { job_name: name, ...scrape, static_configs: [{ targets }] };
}

function configurationOf(jobs: readonly object[]): string {
  return JSON.stringify({
    receivers: { prometheus: { config: { scrape_configs: jobs } } },
    exporters: { counting: {} },
    service: { pipelines: { metrics: { receivers: ["prometheus"], exporters: ["counting"] } } },
  });
}
