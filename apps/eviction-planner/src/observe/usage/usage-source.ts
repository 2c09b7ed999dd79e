import type { KubeClient } from "@evenkeel/kube";
import { type Advice, parseAddress, PrometheusClient } from "@evenkeel/prometheus";
import { type Clock, type Component, type Environment, proxyFor, type SettingsOf } from "@evenkeel/runtime";
import { metricsApi } from "./metrics-api.ts";
import { prometheusUsage } from "./prometheus-usage.ts";
import type { UsageSource } from "./usage.ts";
import { usageQueries, type usageSettings } from "./usage-settings.ts";

type UsageSettings = SettingsOf<typeof usageSettings>;

export interface UsageSourceOptions {
  readonly kube: Pick<KubeClient, "stream">;
  readonly clock: Clock;
  readonly env: Environment;
  readonly use: (client: Component) => unknown;
}

/** Milliseconds that a query to Prometheus may take. */
const TIMEOUT = 30_000;

/** What to check if Prometheus does not answer. */
const advice: Advice = {
  address: "set --prometheus-address to the URL of the server",
  credentials: "put user and password into --prometheus-address",
  permission: "check the permissions of the user in --prometheus-address",
  load: "increase --sync-period or simplify the queries",
  time: "simplify the queries",
  trust: "set NODE_EXTRA_CA_CERTS to the server's CA",
  handshake: "check that the server uses https",
  clientCertificate: "Check whether the server requires a client certificate, which is not supported",
};

/** Prometheus if it has an address, else metrics.k8s.io. */
export function usageSource(settings: UsageSettings, { kube, clock, env, use }: UsageSourceOptions): UsageSource {
  const address = parseAddress(settings.prometheusAddress ?? "");
  if (address === undefined) return metricsApi(kube, clock);
  const userAgent = "evenkeel-eviction-planner";
  const client = new PrometheusClient({ clock, advice, userAgent, proxyFor: (server) => proxyFor(server, env) });
  use(client);
  return prometheusUsage({ client, address, queries: usageQueries(settings), timeout: TIMEOUT });
}

/** One line if the address of Prometheus is none. */
export function usageContradictions({ prometheusAddress }: UsageSettings): readonly string[] {
  if (prometheusAddress === undefined || parseAddress(prometheusAddress) !== undefined) return [];
  return ["--prometheus-address: expected an http:// or https:// URL"];
}
