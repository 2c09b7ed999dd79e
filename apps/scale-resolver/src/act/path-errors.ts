import { defineError } from "@evenkeel/runtime";

// The EndpointSlices that redirect a Service to the resolver.

export const PortsExhausted = defineError({
  code: "EK_RESOLVER_PORTS_EXHAUSTED",
  recovery: "retryable",
  message: "no port is free for {port}: all {size} ports of {range} are assigned to other Services",
  remedy: "Set a wider --port-range on all replicas, or delete ElastiServices that are not needed.",
});

export const SliceNameTaken = defineError({
  code: "EK_RESOLVER_SLICE_NAME_TAKEN",
  recovery: "terminal",
  message: "EndpointSlice {slice} exists and is managed by {manager}",
  remedy:
    "Rename or delete it. Until then, requests to the Service are not redirected and its workload is not scaled to 0.",
});

export const SliceContended = defineError({
  code: "EK_RESOLVER_SLICE_CONTENDED",
  recovery: "retryable",
  message: "EndpointSlice {slice} was changed by another client during each of {tries} writes",
  remedy: "Its managedFields name the client: another resolver may manage the same Service.",
});

// Selection of Services.

export const BadSelector = defineError({
  code: "EK_RESOLVER_BAD_SELECTOR",
  recovery: "terminal",
  message: "spec.selector is invalid: {faults}",
  remedy: "Use the syntax of a Deployment's selector with the operators In, NotIn, Exists and DoesNotExist.",
});
