import type { Rebalance } from "@evenkeel/api";
import type { Resource, Secret } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import {
  type Authorization,
  authorizationOf,
  type PrometheusSpec,
  secretsOf,
} from "../observe/prometheus/authorization.ts";
import { KubeSecrets } from "../observe/secrets.ts";
import { HTTP_ROUTE_RANGE } from "../targets/http-route-target.ts";

export type { PrometheusSpec };

/** Weights of a Route 53 record. */
const ROUTE53_RANGE = { minimum: 0, maximum: 255 };

/** Milliseconds until a weight is in effect, if nothing else is known: a usual TTL, and at once for a route. */
const ROUTE53_TIME_TO_LIVE = 60_000;

/** The weights that the first target accepts, and how long one takes to be in effect. */
export function rangeOf({ target, targets }: Rebalance["spec"]) {
  const isRoute = (target ?? targets?.[0])?.httpRoute !== undefined;
  return isRoute
    ? { range: HTTP_ROUTE_RANGE, timeToLive: 0 }
    : { range: ROUTE53_RANGE, timeToLive: ROUTE53_TIME_TO_LIVE };
}

/** The queries of a Rebalance. */
export function metricQueries({ metrics, metricSources }: Rebalance["spec"]): readonly PrometheusSpec[] {
  return (metricSources ?? (metrics ? [metrics] : [])).flatMap(({ prometheus }) => prometheus ?? []);
}

/** The credentials and certificates of a query, read with the rights of the caller. */
export function queryRights(
  spec: PrometheusSpec,
  {
    resource,
    namespace,
    clock,
    signal,
  }: { resource: Pick<Resource<Secret>, "get">; namespace: string; clock: Clock; signal: AbortSignal },
): Promise<Authorization> {
  const secrets = new KubeSecrets({ resource, clock, allowCrossNamespace: true });
  return authorizationOf(spec, secretsOf(secrets, namespace, signal));
}
