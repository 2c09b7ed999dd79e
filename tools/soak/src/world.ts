import { join } from "node:path";
import { connectKube, type KubeClient, secrets } from "@evenkeel/kube";
import {
  accessKeySecret,
  FaultPlan,
  type Prometheus,
  type RecordSet,
  type Route53,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import { World as BaseWorld, type WorldParts, worldParts } from "@evenkeel/testkit";
import { RECORDED } from "./snapshot-sample.ts";

const main = join(import.meta.dirname, "../../../apps/weight-rebalancer/dist/main.mjs");

export const ZONE = "Z1";
export const TARGET = 1000;
export const BASE = 8;

/** As in production, since an API server in trouble must not cost the lease. */
const LEASE = { "lease-duration": "15s", "lease-renew-deadline": "10s", "lease-retry-period": "2s" };

/** A cluster, a DNS zone of pairs of records and a metric server in this process. */
export class World extends BaseWorld {
  readonly faults: FaultPlan;
  readonly route53: Route53;
  readonly prometheus: Prometheus;
  readonly kube: KubeClient;

  private constructor(parts: WorldParts, faults: FaultPlan, route53: Route53, prometheus: Prometheus) {
    super(parts);
    this.faults = faults;
    this.route53 = this.use(route53);
    this.prometheus = this.use(prometheus);
    const limits = { kubeContext: undefined, kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
    const settings = { ...limits, kubeconfig: this.kubeconfig };
    this.kube = this.use(connectKube({ settings, env: {}, userAgent: "soak" }));
  }

  /** With a pair of records for each of `names`: `base`, and `blue`, which follows the metric. */
  static async start(names: readonly string[]): Promise<World> {
    const faults = new FaultPlan();
    const parts = await worldParts({
      service: "soak",
      main,
      kinds: ["rebalances"],
      flags: {
        ...LEASE,
        "recorded-snapshots": String(RECORDED),
        "route53-rate": "10",
        "route53-batch-window": "200ms",
      },
      server: { faults: faults.faults },
    });
    const route53 = await startRoute53({ propagation: 200 });
    const pairs = names.flatMap((name) => [site(name, "base", BASE), site(name, "blue", 1)]);
    route53.addZone(ZONE, "example.com", pairs);
    const world = new World(parts, faults, route53, await startPrometheus());
    await world.kube.resource(secrets).create(accessKeySecret("default"));
    return world;
  }

  /** The weight that the record to follow has. */
  weight(name: string): number | undefined {
    return this.route53.records(ZONE).find((record) => record.name.startsWith(name) && record.setIdentifier === "blue")
      ?.weight;
  }
}

function site(name: string, setIdentifier: string, weight: number): RecordSet {
  return { name, type: "A", setIdentifier, weight, ttl: 5, values: ["192.0.2.1"] };
}
