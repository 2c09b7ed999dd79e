import { defineError } from "@evenkeel/runtime";

// Any target.

export const AllZero = defineError({
  code: "EK_WEIGHT_ALL_ZERO",
  recovery: "terminal",
  message: "{target} stays {weight}: with 0 every weight of {set} would be 0, which means equal parts and not none",
  remedy: "Keep one of the set above 0: give a minimum, or raise another. To take all out of service, delete them.",
});

export const OutOfRange = defineError({
  code: "EK_WEIGHT_OUT_OF_RANGE",
  recovery: "terminal",
  message: "{target} takes whole weights from {minimum} to {maximum}, not {weight}",
  remedy: "Give a maximum within the target's range.",
});

export const Superseded = defineError({
  code: "EK_WEIGHT_SUPERSEDED",
  recovery: "retryable",
  message: "{target} was not set to {weight}: a later write wants {later}",
  remedy: "Nothing is to be done, unless two Rebalances name the same target: then they undo each other's work.",
});

export const Withdrawn = defineError({
  code: "EK_WEIGHT_WITHDRAWN",
  recovery: "retryable",
  message: "{target} was not set to {weight}: {why}",
  remedy: "Nothing was written. The process that leads decides again on its next turn.",
});

// Amazon Route 53.

export const Route53Stopped = defineError({
  code: "EK_WEIGHT_ROUTE53_STOPPED",
  recovery: "retryable",
  message: "this process stops and no longer waits for Route 53",
  remedy: "A change that was on its way may have been made. The process that leads next reads what is there.",
});

export const Route53Throttled = defineError({
  code: "EK_WEIGHT_ROUTE53_THROTTLED",
  recovery: "retryable",
  message: "Route 53 takes no more requests for now (zone {zone}): {fault}",
  remedy: "It is tried again, slower. Others use up the account's requests too: see --route53-rate.",
});

export const Route53Busy = defineError({
  code: "EK_WEIGHT_ROUTE53_BUSY",
  recovery: "retryable",
  message: "zone {zone} is still busy with an earlier change: {fault}",
  remedy: "It is tried again. If it lasts, something else changes the zone all the time.",
});

export const Route53Unreachable = defineError({
  code: "EK_WEIGHT_ROUTE53_UNREACHABLE",
  recovery: "retryable",
  message: "Route 53 gave no answer about zone {zone}: {fault}",
  remedy: "It is tried again. A wrong endpoint, a firewall, a missing HTTPS_PROXY or a fault of AWS may be why.",
});

export const Route53Denied = defineError({
  code: "EK_WEIGHT_ROUTE53_DENIED",
  recovery: "terminal",
  message: "Route 53 does not let these credentials into zone {zone}: {fault}",
  remedy:
    "They need route53:ListResourceRecordSets and route53:ChangeResourceRecordSets on the zone, and route53:GetChange.",
});

export const Route53NoZone = defineError({
  code: "EK_WEIGHT_ROUTE53_NO_ZONE",
  recovery: "terminal",
  message: "there is no hosted zone {zone} in this account: {fault}",
  remedy: "Check hostedZoneID and whose credentials are in use; `aws route53 list-hosted-zones` shows what they see.",
});

export const Route53NoRecord = defineError({
  code: "EK_WEIGHT_ROUTE53_NO_RECORD",
  recovery: "terminal",
  message: "{target} does not exist: {found}",
  remedy: "Name, type and identifier must be those of a weighted record that is there; none is created.",
});

export const Route53NotWeighted = defineError({
  code: "EK_WEIGHT_ROUTE53_NOT_WEIGHTED",
  recovery: "terminal",
  message: "{target} is not a weighted record: {found}",
  remedy: "Give the record the routing policy Weighted and a set identifier, or name another.",
});

export const Route53Refused = defineError({
  code: "EK_WEIGHT_ROUTE53_REFUSED",
  recovery: "terminal",
  message: "Route 53 refused a request about {what}: {fault}",
  remedy: "The message is Route 53's own. It judges the record as a whole, so look at its TTL, values and siblings.",
});

export const Route53NoCredentials = defineError({
  code: "EK_WEIGHT_ROUTE53_NO_CREDENTIALS",
  recovery: "terminal",
  message: "there are no credentials for zone {zone}: {fault}",
  remedy:
    "Give auth.secretRef with both keys, or credentials in the environment, such as a role of the service account.",
});

export const Route53BadEndpoint = defineError({
  code: "EK_WEIGHT_ROUTE53_BAD_ENDPOINT",
  recovery: "terminal",
  message: "the endpoint of zone {zone} is no address with scheme and host: {endpoint}",
  remedy: "Write it like https://route53.example.com, or leave it out.",
});

// Gateway API.

export const NoHttpRoute = defineError({
  code: "EK_WEIGHT_NO_HTTP_ROUTE",
  recovery: "terminal",
  message: "there is no HTTPRoute {route}",
  remedy: "Check httpRoute.name. The route must be in the namespace of the Rebalance, and the Gateway API installed.",
});

export const NoHttpRouteRule = defineError({
  code: "EK_WEIGHT_NO_HTTP_ROUTE_RULE",
  recovery: "terminal",
  message: "HTTPRoute {route} has no rule {rule}: {found}",
  remedy: "Rules are counted from 0, in the order of spec.rules.",
});

export const NoHttpRouteBackend = defineError({
  code: "EK_WEIGHT_NO_HTTP_ROUTE_BACKEND",
  recovery: "terminal",
  message: "rule {rule} of HTTPRoute {route} does not have exactly one backend {backend}: {found}",
  remedy: "httpRoute.backend is the name of one of the rule's backendRefs, which must stand there once.",
});

export const HttpRouteContended = defineError({
  code: "EK_WEIGHT_HTTP_ROUTE_CONTENDED",
  recovery: "retryable",
  message: "{target} was not set to {weight}: the route changed under every one of {attempts} tries",
  remedy: "Something else writes the route all the time. It is tried again on the next turn.",
});
