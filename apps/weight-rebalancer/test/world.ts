import { join } from "node:path";
import { connectKube, type KubeClient, secrets } from "@evenkeel/kube";
import {
  ACCESS_KEY_AUTH,
  accessKeySecret,
  type ApiServerOptions,
  type Prometheus,
  type RecordSet,
  type Route53,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import {
  World as BaseWorld,
  type ServiceProcess,
  type ServiceProcessOptions,
  type WorldParts,
  worldParts,
} from "@evenkeel/testkit";
import { rebalances, type StoredRebalance } from "../src/rebalance-resource.ts";

/** What the image holds; `nx run weight-rebalancer:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

/** The metric that the Rebalances of these tests follow. */
export const QUERY = "sum(requests)";

/** Real milliseconds until a change of the zone is in effect. */
const PROPAGATION = 200;

/** A cluster, a DNS zone and a metric server in this process, for the real service as another one. */
export class World extends BaseWorld {
  readonly route53: Route53;
  readonly prometheus: Prometheus;
  readonly kube: KubeClient;
  /** The value of the metric; null is no sample at all. */
  metric: number | null = 3000;

  private constructor(parts: WorldParts, route53: Route53, prometheus: Prometheus) {
    super(parts);
    this.route53 = this.use(route53);
    this.prometheus = this.use(prometheus);
    const limits = { kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
    const settings = { kubeconfig: this.kubeconfig, kubeContext: undefined, ...limits };
    this.kube = this.use(connectKube({ settings, env: {}, userAgent: "tests" }));
    prometheus.answer(QUERY, () => ({
      kind: "vector",
      samples: this.metric === null ? [] : [{ metric: {}, value: this.metric }],
    }));
  }

  static async start(
    records: readonly RecordSet[] = twoSites("www.example.com"),
    server: Partial<ApiServerOptions> = {},
  ): Promise<World> {
    const service = { service: "weight-rebalancer", main, kinds: ["rebalances"], server };
    const parts = await worldParts({ ...service, flags: { "route53-batch-window": "50ms" } });
    const route53 = await startRoute53({ propagation: PROPAGATION });
    route53.addZone("Z1", "example.com", records);
    const world = new World(parts, route53, await startPrometheus());
    await world.kube.resource(secrets).create(accessKeySecret("default"));
    return world;
  }

  override serve(flags: readonly string[] = [], options: ServiceProcessOptions = { env: process.env }): ServiceProcess {
    return super.serve(flags, options);
  }

  /** Creates a Rebalance of the record `blue`; `change` overrides parts of its spec. */
  async create(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<StoredRebalance> {
    const object = { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance" };
    const spec = { ...this.spec(), ...change };
    return this.kube.resource(rebalances).create({ ...object, metadata: { namespace: "default", name }, spec });
  }

  spec(identifier = "blue", name = "www.example.com", zone = "Z1"): Readonly<Record<string, unknown>> {
    const resource = { name, type: "A", identifier };
    const access = { region: "us-east-1", endpoint: this.route53.url, auth: ACCESS_KEY_AUTH };
    return {
      interval: "1s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: { route53: { hostedZoneID: `hostedzone/${zone}`, ...access, resource } },
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
}

/** A name with two weighted records: `base` with weight 8, and `blue` with weight 1. */
export function twoSites(name: string): readonly RecordSet[] {
  const site = (setIdentifier: string, weight: number, address: string): RecordSet => {
    return { name, type: "A", setIdentifier, weight, ttl: 60, values: [address] };
  };
  return [site("base", 8, "192.0.2.1"), site("blue", 1, "192.0.2.2")];
}
