import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { apply, chartAccount, get, kubectl, type useCluster } from "@evenkeel/e2e";
import { ServiceProcess } from "@evenkeel/testkit";
import {
  ACCESS_KEY_AUTH,
  accessKeySecret,
  type Prometheus,
  type RecordSet,
  type Route53,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import type { StoredRebalance } from "../src/rebalance-resource.ts";
import { type Proxy, proxyTo } from "../test/proxy-to.ts";

/** A control plane of `useCluster`. */
export type Cluster = ReturnType<ReturnType<typeof useCluster>>;

const MAIN = join(import.meta.dirname, "../dist/main.mjs");
const ROOT = join(import.meta.dirname, "../../..");

/** The service's chart, and all that it makes. */
export const CHART = "weight-rebalancer";

/** The zone of the original's README, whose id is a row of X there. */
export const ZONE = "XXXXXXXXXX";

/** The query of the original's README. */
export const QUERY = 'sum(irate(istio_requests_total{reporter="source",destination_service_name=~"test-svc"}[5m]))';

/** What a test may change of `rebalance()`. */
export type SpecChange = Readonly<Record<string, unknown>>;

/**
 * What a Rebalance on the real control plane depends on: its definition, a DNS zone, a metric server, the service
 * itself.
 */
export class Site implements AsyncDisposable {
  readonly route53: Route53;
  readonly prometheus: Prometheus;
  readonly #cluster: Cluster;
  readonly #proxy: Proxy;
  readonly #kubeconfigs = new Map<string, Promise<string>>();
  /** What the metric of every Rebalance is. */
  metric = 3000;

  private constructor(cluster: Cluster, parts: { route53: Route53; prometheus: Prometheus }, proxy: Proxy) {
    this.#cluster = cluster;
    this.#proxy = proxy;
    this.route53 = parts.route53;
    this.prometheus = parts.prometheus;
    this.prometheus.answer(QUERY, () => ({ kind: "vector", samples: [{ metric: {}, value: this.metric }] }));
  }

  static async start(cluster: Cluster): Promise<Site> {
    for (const file of [
      "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml",
      "apps/weight-rebalancer/test/fixtures/httproutes.yaml",
    ])
      await kubectl(cluster, ["apply", "-f", "-"], { input: await readFile(join(ROOT, file), "utf8") });
    const definitions = ["rebalances.rebalancer.ch1aki.github.io", "httproutes.gateway.networking.k8s.io"];
    await kubectl(cluster, ["wait", "--for=condition=Established", "crd", ...definitions, "--timeout=30s"]);
    const parts = { route53: await startRoute53({ propagation: 200 }), prometheus: await startPrometheus() };
    return new Site(cluster, parts, await proxyTo(parts.prometheus.url));
  }

  /** A zone of two weighted records: `onpremises` with weight 8, and `aws` with weight 3. */
  addZone(id: string, name: string): void {
    const record = (setIdentifier: string, weight: number): RecordSet => {
      return { name, type: "A", setIdentifier, weight, ttl: 60, values: ["192.0.2.1"] };
    };
    this.route53.addZone(id, name, [record("onpremises", 8), record("aws", 3)]);
  }

  /** The weight of a zone's record as Route 53 has it. */
  weight(zone: string, identifier = "aws"): number | undefined {
    return this.route53.records(zone).find((record) => record.setIdentifier === identifier)?.weight;
  }

  /** How often the zone was changed. */
  changes(zone: string): number {
    return this.route53.journal.filter((entry) => entry.zone === zone).length;
  }

  /** Starts the service as a process with the token of its chart's account in `namespace`, and with no other rights. */
  async serve(namespace: string, ...flags: readonly string[]): Promise<ServiceProcess> {
    const given = (name: string) => flags.some((flag) => flag.startsWith(`--${name}`));
    const all = [
      `--kubeconfig=${await this.#kubeconfig(namespace, flags)}`,
      `--lease-namespace=${namespace}`,
      "--insecure",
      "--grpc-port=0",
      "--route53-batch-window=50ms",
      "--lease-duration=3s",
      "--lease-renew-deadline=2s",
      "--lease-retry-period=300ms",
      ...(given("state") ? [] : ["--state=sqlite::memory:"]),
      ...flags,
    ];
    const env = {
      ...process.env,
      HTTP_PROXY: this.#proxy.url,
      NO_PROXY: "127.0.0.1",
      AWS_ENDPOINT_URL_ROUTE_53: this.route53.url,
      AWS_ACCESS_KEY_ID: "environment",
      AWS_SECRET_ACCESS_KEY: "secret",
    };
    return ServiceProcess.start(MAIN, all, { env });
  }

  /** The chart grants rights in the namespaces that the service is told to watch; without such, in all. */
  #kubeconfig(namespace: string, flags: readonly string[]): Promise<string> {
    const known = this.#kubeconfigs.get(namespace);
    if (known !== undefined) return known;
    const [, watched] =
      flags.map((flag) => /^--watch-namespaces=(.*)$/.exec(flag)).find((match) => match !== null) ?? [];
    const values = watched === undefined ? [] : [`settings.watchNamespaces={${watched}}`];
    const made = chartAccount(this.#cluster, { chart: CHART, namespace, values }).then((account) => account.kubeconfig);
    this.#kubeconfigs.set(namespace, made);
    return made;
  }

  /** A Rebalance of the record `aws` of a zone of its own, that is looked at each second. */
  rebalance(namespace: string, name: string, zone: string, change: SpecChange = {}): object {
    const resource = { name: `${zone.toLowerCase()}.example.com`, type: "A", identifier: "aws" };
    const spec = {
      interval: "1s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: { route53: { hostedZoneID: `hostedzone/${zone}`, auth: ACCESS_KEY_AUTH, resource } },
      metrics: { prometheus: { address: this.prometheus.url, query: QUERY } },
      ...change,
    };
    return { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance", metadata: { namespace, name }, spec };
  }

  /** Makes a namespace, a zone and a Rebalance of it. */
  async given(namespace: string, name: string, change: SpecChange = {}): Promise<{ readonly zone: string }> {
    const zone = `Z${namespace.toUpperCase().replaceAll("-", "")}`;
    this.addZone(zone, `${zone.toLowerCase()}.example.com`);
    const rebalance = this.rebalance(namespace, name, zone, change);
    await apply(this.#cluster, namespaceOf(namespace), accessKeySecret(namespace), rebalance);
    return { zone };
  }

  async get(namespace: string, name: string): Promise<StoredRebalance> {
    return get<StoredRebalance>(this.#cluster, "rebalance", name, "-n", namespace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.close();
    await Promise.all([this.route53.stop(), this.prometheus.stop()]);
  }
}

export function namespaceOf(name: string): object {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}
