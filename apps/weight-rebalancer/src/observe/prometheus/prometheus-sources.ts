import type { HistogramHandle } from "@evenkeel/metrics";
import { PrometheusClient, type ServerGuards } from "@evenkeel/prometheus";
import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";
import type { MetricSource } from "../metric-source.ts";
import type { SecretReader } from "../secret-reader.ts";
import { advice } from "./advice.ts";
import type { PrometheusSpec } from "./authorization.ts";
import { PrometheusSource } from "./prometheus-source.ts";

export interface PrometheusSourcesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly secrets: SecretReader;
  /** The proxy for requests to a server, if any, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY have it. */
  readonly proxyFor: (server: URL) => string | undefined;
  /** Which servers the objects of a namespace may ask. Absent: all. */
  readonly guards?: ServerGuards;
  readonly queries: HistogramHandle<(typeof metrics)["queries"]["labels"]>;
}

/** Prometheus servers as sources of metrics. */
export class PrometheusSources implements Component {
  readonly name = "prometheus";
  readonly #options: PrometheusSourcesOptions;
  readonly #client: PrometheusClient;

  constructor(options: PrometheusSourcesOptions) {
    this.#options = options;
    this.#client = new PrometheusClient({ ...options, advice, userAgent: "evenkeel-weight-rebalancer" });
  }

  /** The source that an object in `namespace` describes. Creating one sends no request and never throws. */
  source(namespace: string, spec: PrometheusSpec): MetricSource {
    return new PrometheusSource({ ...this.#options, client: this.#client, namespace, spec });
  }

  /** Closes every connection. Queries in progress end with a fault. */
  stop(): Promise<void> {
    return this.#client.stop();
  }
}
