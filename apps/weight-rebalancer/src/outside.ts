import type { Rebalance } from "@evenkeel/api";
import { type HttpRoutes, httpRouteTarget } from "./targets/http-route-target.ts";
import type { Route53Targets } from "./targets/route53/route53-targets.ts";
import type { WeightTarget } from "./targets/weight-target.ts";
import type { MetricSource } from "./observe/metric-source.ts";
import type { Outside, TargetSpec } from "./observe/observer.ts";
import type { PrometheusSources } from "./observe/prometheus/prometheus-sources.ts";

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
  const source = (namespace: string, spec: SourceSpec): readonly MetricSource[] =>
    spec.prometheus ? [prometheus.source(namespace, spec.prometheus)] : [];
  return {
    sources: ({ metadata: { namespace = "" }, spec }) =>
      listOf(spec.metrics, spec.metricSources).flatMap((each) => source(namespace, each)),
    targets: ({ metadata: { namespace = "" }, spec }) =>
      targetSpecs(spec).flatMap((each) => target(namespace, each) ?? []),
    target,
  };
}

export function targetSpecs({ target, targets }: Rebalance["spec"]): readonly TargetSpec[] {
  return listOf(target, targets);
}

type SourceSpec = NonNullable<Rebalance["spec"]["metrics"]>;

/** The single field of the original, or the list that replaces it. */
function listOf<T>(one: T | undefined, several: readonly T[] | undefined): readonly T[] {
  return several ?? (one === undefined ? [] : [one]);
}
