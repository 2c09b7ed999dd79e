import { secrets } from "@evenkeel/kube";
import type { KubeClient } from "@evenkeel/kube";
import {
  parseAddress,
  parseRangeAnswer,
  type PrometheusClient,
  type ServerAddress,
  spanParameters,
} from "@evenkeel/prometheus";
import { type Clock, explain } from "@evenkeel/runtime";
import { type AskRange, type PrometheusSpec, queryRights, type Span } from "@evenkeel/weight-rebalancer/backtest";
import { NoHistory, WrongUsage } from "../errors.ts";
import { ProxiedConnection, type ServicePlace } from "../reach/proxied-connection.ts";
import { wholeText } from "../reach/whole-text.ts";

export interface PastMetricsOptions {
  readonly kube: KubeClient;
  readonly client: Pick<PrometheusClient, "range">;
  readonly clock: Clock;
  /** Milliseconds for each answer. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** The server to ask instead of that of the spec. */
  readonly prometheus: string | undefined;
  /** Namespace of the Rebalance, where the Secrets of its queries are. */
  readonly namespace: string;
}

/** Bytes of one answer at most: some thousand steps of some hundred series. */
const LIMIT = 64 * 2 ** 20;

/** A Service as names within a cluster have it: `prometheus.monitoring.svc`, with or without the cluster's domain. */
const IN_CLUSTER = /^(?<service>[a-z0-9-]+)\.(?<namespace>[a-z0-9-]+)\.svc(?:\.|$)/;

/** How the past of a query is asked for: directly, or through the API server if only the cluster knows the address. */
export async function pastMetrics(spec: PrometheusSpec, options: PastMetricsOptions): Promise<AskRange> {
  const { prometheus, kube, clock, namespace, signal } = options;
  const address = parseAddress(prometheus ?? spec.address);
  if (address === undefined) throw new WrongUsage({ fault: `${prometheus ?? spec.address} is no http or https URL` });
  const place = placeOf(address);
  if (place !== undefined) return throughApiServer(spec, address, place, options);
  const rights = await queryRights(spec, { resource: kube.resource(secrets), namespace, clock, signal });
  return async (span) => {
    const { query } = spec;
    const { client, deadline } = options;
    const answer = await client.range({ ...rights, ...span, address, query, timeout: deadline, signal, limit: LIMIT });
    if (answer.kind === "failed") throw new NoHistory({ server: address.shown, fault: answer.message });
    return answer;
  };
}

function placeOf({ origin }: ServerAddress): ServicePlace | undefined {
  const { hostname, port, protocol } = new URL(origin);
  const { service, namespace } = IN_CLUSTER.exec(hostname)?.groups ?? {};
  if (service === undefined || namespace === undefined) return undefined;
  const scheme = protocol === "https:" ? "https" : "http";
  return { namespace, service, port: port || (scheme === "https" ? "443" : "80"), scheme };
}

function throughApiServer(
  spec: PrometheusSpec,
  address: ServerAddress,
  place: ServicePlace,
  { kube, deadline, signal }: PastMetricsOptions,
): AskRange {
  if (spec.auth !== undefined || spec.headers !== undefined || address.user !== undefined) {
    const fault = `${address.shown} needs credentials, which the API server does not pass on: use kubectl port-forward and --prometheus`;
    throw new WrongUsage({ fault });
  }
  const connection = new ProxiedConnection({ kube, place, deadline });
  const fixed = Object.fromEntries(new URLSearchParams(address.parameters));
  return async (span: Span) => {
    const query = { ...fixed, query: spec.query, ...spanParameters(span) };
    try {
      const body = await connection.send({ path: `${address.path}_range`, query, signal });
      const answer = parseRangeAnswer(await wholeText(body, LIMIT));
      if (answer.kind === "series") return answer;
      throw new Error(answer.kind === "error" ? `${answer.errorType}: ${answer.error}` : answer.why);
    } catch (error) {
      throw new NoHistory({ server: `${connection.place} through the API server`, fault: explain(error) });
    }
  };
}
