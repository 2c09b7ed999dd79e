import { defineError } from "@evenkeel/runtime";

// Any target.

export const AllZero = defineError({
  code: "EK_WEIGHT_ALL_ZERO",
  recovery: "terminal",
  message: "{target} stays {weight}: with 0 every weight of {set} would be 0, which means equal shares and not none",
  remedy: "Keep one weight of the set above 0: set policy.minimum, or raise another one.",
});

export const OutOfRange = defineError({
  code: "EK_WEIGHT_OUT_OF_RANGE",
  recovery: "terminal",
  message: "{target} accepts integer weights from {minimum} to {maximum}, not {weight}",
  remedy: "Set policy.maximum within the range of the target.",
});

export const Superseded = defineError({
  code: "EK_WEIGHT_SUPERSEDED",
  recovery: "retryable",
  message: "{target} was not set to {weight}: a later write sets it to {later}",
  remedy: "No action is needed, unless two Rebalances have the same target: then remove one of them.",
});

export const Withdrawn = defineError({
  code: "EK_WEIGHT_WITHDRAWN",
  recovery: "retryable",
  message: "{target} was not set to {weight}: {why}",
  remedy: "Nothing was written. The leader decides again at the next reconcile.",
});

export const TargetChanged = defineError({
  code: "EK_WEIGHT_TARGET_CHANGED",
  recovery: "retryable",
  message: "{target} was not set to {weight}: another client changed it from {expected} to {found} after it was read",
  remedy: "Nothing was written. The weight is decided again at once, from what the target has now.",
});

// Amazon Route 53.

export const Route53Stopped = defineError({
  code: "EK_WEIGHT_ROUTE53_STOPPED",
  recovery: "retryable",
  message: "this process is stopping and no longer waits for Route 53",
  remedy: "A change that was sent may have been made. The next leader reads the record.",
});

export const Route53Throttled = defineError({
  code: "EK_WEIGHT_ROUTE53_THROTTLED",
  recovery: "retryable",
  message: "Route 53 throttles requests for zone {zone}: {fault}",
  remedy: "The request is retried with backoff. All clients of the AWS account share its limit: lower --route53-rate.",
});

export const Route53Busy = defineError({
  code: "EK_WEIGHT_ROUTE53_BUSY",
  recovery: "retryable",
  message: "Route 53 still processes an earlier change of zone {zone}: {fault}",
  remedy: "The request is retried. If this continues, another client changes the zone all the time.",
});

export const Route53Unreachable = defineError({
  code: "EK_WEIGHT_ROUTE53_UNREACHABLE",
  recovery: "retryable",
  message: "Route 53 did not answer a request for zone {zone}: {fault}",
  remedy: "The request is retried. Check the endpoint, firewalls, HTTPS_PROXY and the AWS service health.",
});

export const Route53Denied = defineError({
  code: "EK_WEIGHT_ROUTE53_DENIED",
  recovery: "terminal",
  message: "Route 53 denies these credentials access to zone {zone}: {fault}",
  remedy:
    "Grant them route53:ListResourceRecordSets and route53:ChangeResourceRecordSets on the zone, and route53:GetChange.",
});

export const Route53NoZone = defineError({
  code: "EK_WEIGHT_ROUTE53_NO_ZONE",
  recovery: "terminal",
  message: "hosted zone {zone} was not found in this account: {fault}",
  remedy: "Check hostedZoneID and the credentials; `aws route53 list-hosted-zones` lists the zones of the account.",
});

export const Route53NoRecord = defineError({
  code: "EK_WEIGHT_ROUTE53_NO_RECORD",
  recovery: "terminal",
  message: "{target} was not found: {found}",
  remedy: "Set name, type and identifier to those of an existing weighted record. No record is created.",
});

export const Route53NotWeighted = defineError({
  code: "EK_WEIGHT_ROUTE53_NOT_WEIGHTED",
  recovery: "terminal",
  message: "{target} is not a weighted record: {found}",
  remedy: "Give the record the routing policy Weighted and a set identifier, or select another record.",
});

export const Route53Refused = defineError({
  code: "EK_WEIGHT_ROUTE53_REFUSED",
  recovery: "terminal",
  message: "Route 53 refused a request about {what}: {fault}",
  remedy: "Route 53 validates the whole record: check its TTL, its values and the other records of the name.",
});

export const Route53Contended = defineError({
  code: "EK_WEIGHT_ROUTE53_CONTENDED",
  recovery: "retryable",
  message: "{target} was not set to {weight}: another client changed the record during each of {attempts} attempts",
  remedy: "Another client writes the record all the time. The write is retried at the next reconcile.",
});

export const Route53NoCredentials = defineError({
  code: "EK_WEIGHT_ROUTE53_NO_CREDENTIALS",
  recovery: "terminal",
  message: "no credentials were found for zone {zone}: {fault}",
  remedy: "Set auth.secretRef with both keys, or give the service account a role.",
});

export const Route53AmbientDenied = defineError({
  code: "EK_WEIGHT_ROUTE53_AMBIENT_DENIED",
  recovery: "terminal",
  message:
    "zone {zone} has no auth.secretRef, and namespace {namespace} is not in --allow-ambient-credentials, so it may not use the AWS identity of the service",
  remedy: "Set auth.secretRef, or add the namespace to --allow-ambient-credentials.",
});

export const Route53EndpointDenied = defineError({
  code: "EK_WEIGHT_ROUTE53_ENDPOINT_DENIED",
  recovery: "terminal",
  message: "zone {zone} has an endpoint and no auth.secretRef: the AWS identity of the service is sent to AWS alone",
  remedy: "Set auth.secretRef, or remove endpoint.",
});

export const Route53BadEndpoint = defineError({
  code: "EK_WEIGHT_ROUTE53_BAD_ENDPOINT",
  recovery: "terminal",
  message: "the endpoint of zone {zone} is not a URL with scheme and host: {endpoint}",
  remedy: "Set it to a URL such as https://route53.example.com, or remove it.",
});

// Gateway API.

export const NoHttpRoute = defineError({
  code: "EK_WEIGHT_NO_HTTP_ROUTE",
  recovery: "terminal",
  message: "HTTPRoute {route} was not found",
  remedy: "Check httpRoute.name. The route must be in the namespace of the Rebalance, and the Gateway API installed.",
});

export const NoHttpRouteRule = defineError({
  code: "EK_WEIGHT_NO_HTTP_ROUTE_RULE",
  recovery: "terminal",
  message: "HTTPRoute {route} has no rule {rule}: {found}",
  remedy: "Set httpRoute.rule to the index of a rule in spec.rules, from 0.",
});

export const NoHttpRouteBackend = defineError({
  code: "EK_WEIGHT_NO_HTTP_ROUTE_BACKEND",
  recovery: "terminal",
  message: "rule {rule} of HTTPRoute {route} does not have exactly one backend {backend}: {found}",
  remedy: "Set httpRoute.backend to a name that occurs exactly once in the backendRefs of the rule.",
});

export const HttpRouteContended = defineError({
  code: "EK_WEIGHT_HTTP_ROUTE_CONTENDED",
  recovery: "retryable",
  message: "{target} was not set to {weight}: the route changed during each of {attempts} attempts",
  remedy: "Another client writes the route all the time. The write is retried at the next reconcile.",
});
