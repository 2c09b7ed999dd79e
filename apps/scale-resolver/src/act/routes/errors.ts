import { defineError } from "@evenkeel/runtime";

export const RouteNotFound = defineError({
  code: "EK_RESOLVER_ROUTE_NOT_FOUND",
  recovery: "retryable",
  message: "there is no {route}",
  remedy: "Make it, or name another in spec.switch. Until then the Service is not put to sleep.",
});

export const RouteWithoutService = defineError({
  code: "EK_RESOLVER_ROUTE_WITHOUT_SERVICE",
  recovery: "retryable",
  message: "no destination of {route} is the Service {service}",
  remedy: "Name the route that leads to the Service in spec.switch. Until then the Service is not put to sleep.",
});

export const RouteNeedsResolverService = defineError({
  code: "EK_RESOLVER_ROUTE_NEEDS_SERVICE",
  recovery: "terminal",
  message: "{route} cannot be led to the resolver, which has no Service of its own",
  remedy: "Start the resolver with --resolver-service, as the chart does.",
});

export const GrantMissing = defineError({
  code: "EK_RESOLVER_GRANT_MISSING",
  recovery: "retryable",
  message: "no ReferenceGrant in {to} lets HTTPRoutes of {from} refer to the Service {service}",
  remedy:
    "Create a ReferenceGrant in the resolver's namespace: from group gateway.networking.k8s.io, kind HTTPRoute and the route's namespace, to group \"\" and kind Service. A gateway would answer 500 without it, so nothing is switched.",
});
