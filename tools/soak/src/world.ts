import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import {
  type ApiServer,
  FaultPlan,
  type Prometheus,
  type RecordSet,
  type Route53,
  startApiServer,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";

const root = join(import.meta.dirname, "../../..");
const USER = { name: "admin", groups: ["system:masters"], token: "secret" };

export const ZONE = "Z1";
export const TARGET = 1000;
export const BASE = 8;

/** A cluster, a DNS zone of pairs of records and a metric server in this process. */
export class World implements AsyncDisposable {
  readonly kubeconfig: string;
  readonly faults: FaultPlan;
  readonly api: ApiServer;
  readonly route53: Route53;
  readonly prometheus: Prometheus;
  readonly kube: KubeClient;

  private constructor(
    folder: string,
    faults: FaultPlan,
    { api, route53, prometheus }: { api: ApiServer; route53: Route53; prometheus: Prometheus },
  ) {
    this.faults = faults;
    this.api = api;
    this.route53 = route53;
    this.prometheus = prometheus;
    this.kubeconfig = join(folder, "kubeconfig");
    writeFileSync(this.kubeconfig, kubeconfigFor(api.url));
    const settings = { kubeContext: undefined, kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
    this.kube = connectKube({ settings: { ...settings, kubeconfig: this.kubeconfig }, env: {}, userAgent: "soak" });
  }

  /** With a pair of records for each of `names`: `base`, and `blue` whose weight is to follow. */
  static async start(folder: string, names: readonly string[]): Promise<World> {
    const faults = new FaultPlan();
    const api = await startApiServer({ users: [USER], faults: faults.faults });
    api.load(
      readFileSync(
        join(root, "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml"),
        "utf8",
      ),
    );
    const route53 = await startRoute53({ propagation: 200 });
    const pairs = names.flatMap((name) => [site(name, "base", BASE), site(name, "blue", 1)]);
    route53.addZone(ZONE, "example.com", pairs);
    return new World(folder, faults, { api, route53, prometheus: await startPrometheus() });
  }

  /** The weight that the record to follow has. */
  weight(name: string): number | undefined {
    return this.route53.records(ZONE).find((record) => record.name.startsWith(name) && record.setIdentifier === "blue")
      ?.weight;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kube.stop();
    await Promise.all([this.api.stop(), this.route53.stop(), this.prometheus.stop()]);
  }
}

function site(name: string, setIdentifier: string, weight: number): RecordSet {
  return { name, type: "A", setIdentifier, weight, ttl: 5, values: ["192.0.2.1"] };
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
