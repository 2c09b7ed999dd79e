import { defineError } from "@evenkeel/runtime";

export const UnknownService = defineError({
  code: "EK_RESOLVER_UNKNOWN_SERVICE",
  recovery: "terminal",
  message: "none of the headers {headers} names a Service that is looked after here",
  remedy:
    "Send Host as name.namespace.svc.cluster.local, or another header that --host-headers names; or let requests come through the Service, which has a port of its own here. The Service needs an ElastiService.",
});

export const NoRoom = defineError({
  code: "EK_RESOLVER_NO_ROOM",
  recovery: "retryable",
  message: "as many requests wait for {service} as may",
  remedy: "Try again. spec.hold.maxPending and maxPendingBytes, --max-pending and --max-pending-bytes are the bounds.",
});

export const NotAwake = defineError({
  code: "EK_RESOLVER_NOT_AWAKE",
  recovery: "retryable",
  message: "no pod of {service} took the request within {seconds} s",
  remedy:
    "Try again. If pods never become ready, their events say why; if they take longer than that, raise spec.hold.timeout.",
});

export const NoLongerServed = defineError({
  code: "EK_RESOLVER_NO_LONGER_SERVED",
  recovery: "retryable",
  message: "{service} is looked after here no more",
  remedy: "Try again: the request then goes straight to the Service's pods, if there are any.",
});

export const NoDescriptors = defineError({
  code: "EK_RESOLVER_NO_DESCRIPTORS",
  recovery: "retryable",
  message: "this process may open too few files to let another request wait",
  remedy: "Raise the limit of open files (RLIMIT_NOFILE) of the container, or run more replicas.",
});

export const PatternRefused = defineError({
  code: "EK_RESOLVER_PATTERN_REFUSED",
  recovery: "terminal",
  message: "the regular expression in {field} is not valid, so its rule matches no request: {fault}",
  remedy:
    "Use the syntax of Go's regexp (RE2), which has no back references and no lookarounds, and at most 256 characters; or use Exact or PathPrefix.",
});
