import { defineError } from "@evenkeel/runtime";

export const RouteNotFound = defineError({
  code: "EK_RESOLVER_ROUTE_NOT_FOUND",
  recovery: "retryable",
  message: "{route} not found",
  remedy: "Create it, or name another route in spec.switch. Until then, the workload is not scaled to 0.",
});

export const RouteWithoutService = defineError({
  code: "EK_RESOLVER_ROUTE_WITHOUT_SERVICE",
  recovery: "retryable",
  message: "{route} has no destination that is Service {service}",
  remedy: "Name the route of the Service in spec.switch. Until then, the workload is not scaled to 0.",
});

export const RouteNeedsResolverService = defineError({
  code: "EK_RESOLVER_ROUTE_NEEDS_SERVICE",
  recovery: "terminal",
  message: "{route} cannot be redirected, because the resolver has no Service of its own",
  remedy: "Start the resolver with --resolver-service, as the chart does.",
});

export const GrantMissing = defineError({
  code: "EK_RESOLVER_GRANT_MISSING",
  recovery: "retryable",
  message: "no ReferenceGrant in namespace {to} allows HTTPRoutes of namespace {from} to refer to Service {service}",
  remedy:
    "Create a ReferenceGrant in the resolver's namespace: from group gateway.networking.k8s.io, kind HTTPRoute and the route's namespace, to group \"\" and kind Service. Without it a gateway answers 500, so the route is not redirected.",
});
