import { defineError } from "@evenkeel/runtime";

export const UnknownService = defineError({
  code: "EK_RESOLVER_UNKNOWN_SERVICE",
  recovery: "terminal",
  message: "none of the headers {headers} names a Service that scale-resolver manages and whose route it redirects",
  remedy:
    "Send requests through the Service. This port is for requests of routes that an ElastiService names in spec.switch, so that no other client reaches Services of all namespaces through it.",
});

export const NoRoom = defineError({
  code: "EK_RESOLVER_NO_ROOM",
  recovery: "retryable",
  message: "too many requests wait for {service}",
  remedy: "Retry. The limits are spec.hold.maxPending and maxPendingBytes, --max-pending and --max-pending-bytes.",
});

export const NotAwake = defineError({
  code: "EK_RESOLVER_NOT_AWAKE",
  recovery: "retryable",
  message: "no pod of {service} accepted the request within {seconds} s",
  remedy: "Retry. If pods do not become ready, see their events; if they need more time, raise spec.hold.timeout.",
});

export const NoLongerServed = defineError({
  code: "EK_RESOLVER_NO_LONGER_SERVED",
  recovery: "retryable",
  message: "{service} is no longer managed",
  remedy: "Retry: the request then goes directly to the Service's pods, if there are any.",
});

export const PortAsleep = defineError({
  code: "EK_RESOLVER_PORT_ASLEEP",
  recovery: "retryable",
  message: "{service} has no ready pod, and requests to this port do not wake it",
  remedy: "Retry when the Service is awake. To wake it from this port, add the port to spec.wakePorts.",
});

export const NoDescriptors = defineError({
  code: "EK_RESOLVER_NO_DESCRIPTORS",
  recovery: "retryable",
  message: "the open file limit of the resolver is nearly reached, so it accepts no further requests",
  remedy: "Raise the limit of open files (RLIMIT_NOFILE) of the container, or run more replicas.",
});

export const PatternRefused = defineError({
  code: "EK_RESOLVER_PATTERN_REFUSED",
  recovery: "terminal",
  message: "the regular expression in {field} is not valid, so its rule matches no request: {fault}",
  remedy:
    "Use the syntax of Go's regexp (RE2), which has no back references and no lookarounds, at most 256 characters, and few repetitions such as {100}; or use Exact or PathPrefix.",
});
