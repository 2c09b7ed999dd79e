import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { ServiceProcess } from "@evenkeel/testkit";
import {
  ACCESS_KEY_AUTH,
  accessKeySecret,
  type Prometheus,
  type Route53,
  startPrometheus,
  startRoute53,
} from "@evenkeel/sim";
import { admin, ApiServerWithProxy, type Backends } from "./api-server.ts";

const root = join(import.meta.dirname, "../../..");
const main = join(root, "apps/weight-rebalancer/src/main.ts");
const definition = join(root, "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml");
const QUERY = "sum(requests)";

/** An embedded cluster with a DNS zone of two sites and a metric, and the real weight-rebalancer as its own process. */
export class RebalanceWorld implements AsyncDisposable {
  readonly server: ApiServerWithProxy;
  readonly service: ServiceProcess;
  readonly #route53: Route53;
  readonly #prometheus: Prometheus;

  private constructor(server: ApiServerWithProxy, service: ServiceProcess, route53: Route53, prometheus: Prometheus) {
    this.server = server;
    this.service = service;
    this.#route53 = route53;
    this.#prometheus = prometheus;
  }

  /**
   * Starts with the Rebalance shop/checkout, whose metric is a little below 3000 and has the target 1000, beside a site
   * of weight 8.
   */
  static async start(): Promise<RebalanceWorld> {
    const backends: Backends = new Map();
    const server = await ApiServerWithProxy.start(backends);
    const route53 = await startRoute53({ propagation: 200 });
    const site = (setIdentifier: string, weight: number, address: string) =>
      ({ name: "www.example.com", type: "A", setIdentifier, weight, ttl: 60, values: [address] }) as const;
    route53.addZone("Z1", "example.com", [site("base", 8, "192.0.2.1"), site("blue", 1, "192.0.2.2")]);
    const prometheus = await startPrometheus();
    prometheus.answer(QUERY, () => ({ kind: "vector", samples: [{ metric: {}, value: 2999.87654321012 }] }));
    server.api.load(readFileSync(definition, "utf8"));
    server.api.load("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    // The objects of a definition can be created a moment after it was.
    await eventually(() => server.api.load(JSON.stringify(rebalance(route53.url, prometheus.url))));

    server.api.load(JSON.stringify(accessKeySecret("shop")));
    const flags = [
      ...[`--kubeconfig=${await server.kubeconfig(admin)}`, "--state=sqlite::memory:", "--insecure", "--grpc-port=0"],
      "--route53-batch-window=50ms",
    ];
    const service = ServiceProcess.start(main, flags);
    backends.set("evenkeel-system/weight-rebalancer:8080", await service.url("admin", ""));
    return new RebalanceWorld(server, service, route53, prometheus);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
    await Promise.all([this.#route53.stop(), this.#prometheus.stop()]);
    await this.server[Symbol.asyncDispose]();
  }
}

function rebalance(endpoint: string, prometheus: string): object {
  const resource = { name: "www.example.com", type: "A", identifier: "blue" };
  return {
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { namespace: "shop", name: "checkout" },
    spec: {
      interval: "5s",
      policy: { targettracking: { targetValue: 1000, baseValue: 8 } },
      target: { route53: { hostedZoneID: "Z1", region: "us-east-1", endpoint, auth: ACCESS_KEY_AUTH, resource } },
      metrics: { prometheus: { address: prometheus, query: QUERY } },
    },
  };
}
