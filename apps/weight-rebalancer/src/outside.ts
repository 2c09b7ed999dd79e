import type { Rebalance } from "@evenkeel/api";
import { type HttpRoutes, httpRouteTarget } from "./targets/http-route-target.ts";
import type { Route53Targets } from "./targets/route53/route53-targets.ts";
import type { WeightTarget } from "./targets/weight-target.ts";
import type { MetricSource } from "./observe/metric-source.ts";
import type { Outside, TargetSpec } from "./observe/observer.ts";
import type { PrometheusSources } from "./observe/prometheus/prometheus-sources.ts";
import { queryLimit } from "./timing.ts";

export interface OutsideParts {
  readonly prometheus: Pick<PrometheusSources, "source">;
  readonly route53: Pick<Route53Targets, "target">;
  readonly httpRoutes: HttpRoutes;
}

/** Builds the sources and targets of a spec. Another kind of target or source is one more line here. */
export function outsideOf({ prometheus, route53, httpRoutes }: OutsideParts): Outside {
  const target = (namespace: string, spec: TargetSpec): WeightTarget | undefined => {
    if (spec.route53) return route53.target(namespace, spec.route53);
    return spec.httpRoute && httpRouteTarget(httpRoutes, namespace, spec.httpRoute);
  };
  const source = (namespace: string, { prometheus: query }: SourceSpec, spec: Spec): readonly MetricSource[] => {
    if (query === undefined) return [];
    const timeout = queryLimit(query.timeout, spec) / 1000;
    return [prometheus.source(namespace, { ...query, timeout })];
  };
  return {
    sources: ({ metadata: { namespace = "" }, spec }) =>
      listOf(spec.metrics, spec.metricSources).flatMap((each) => source(namespace, each, spec)),
    targets: ({ metadata: { namespace = "" }, spec }) =>
      targetSpecs(spec).flatMap((each) => target(namespace, each) ?? []),
    target,
  };
}

export function targetSpecs({ target, targets }: Spec): readonly TargetSpec[] {
  return listOf(target, targets);
}

type Spec = Rebalance["spec"];
type SourceSpec = NonNullable<Spec["metrics"]>;

/** The single field of the original, or the list that replaces it. */
function listOf<T>(one: T | undefined, several: readonly T[] | undefined): readonly T[] {
  return several ?? (one === undefined ? [] : [one]);
}
