import { defineError } from "@evenkeel/runtime";

// The resolver's part in the path of a Service.

export const PortsExhausted = defineError({
  code: "EK_RESOLVER_PORTS_EXHAUSTED",
  recovery: "retryable",
  message: "no port is free for {port}: all {size} of {range} are given to other Services",
  remedy: "Give a wider --port-range to all replicas, or let go of Services that need no looking after.",
});

export const SliceNameTaken = defineError({
  code: "EK_RESOLVER_SLICE_NAME_TAKEN",
  recovery: "terminal",
  message: "EndpointSlice {slice} exists and is not the resolver's: {manager} manages it",
  remedy:
    "Rename or delete it. Until then the Service's requests do not come to the resolver, and it is not put to sleep.",
});

export const SliceContended = defineError({
  code: "EK_RESOLVER_SLICE_CONTENDED",
  recovery: "retryable",
  message: "EndpointSlice {slice} was written by somebody else each of the {tries} times that it was to be written",
  remedy: "Look at its managedFields for who writes it: another resolver may look after the same Service.",
});

// Services that are selected.

export const BadSelector = defineError({
  code: "EK_RESOLVER_BAD_SELECTOR",
  recovery: "terminal",
  message: "spec.selector cannot be understood, and what it has selected stays: {faults}",
  remedy: "Write the selector as that of a Deployment; its operators are In, NotIn, Exists and DoesNotExist.",
});
