import { defineError } from "@evenkeel/runtime";

// The workload that an ElastiService names.

export const BadTarget = defineError({
  code: "EK_RESOLVER_BAD_TARGET",
  recovery: "terminal",
  message: "{apiVersion} is no API version, so that nothing of kind {kind} can be scaled",
  remedy: "scaleTargetRef.apiVersion is like that of the workload's own manifest: apps/v1, argoproj.io/v1alpha1.",
});

export const TargetKindUnknown = defineError({
  code: "EK_RESOLVER_TARGET_KIND_UNKNOWN",
  recovery: "terminal",
  message: "the API server has no kind {kind} in {apiVersion}",
  remedy:
    "Check scaleTargetRef.apiVersion and kind with `kubectl api-resources`. A Rollout needs Argo Rollouts to be installed.",
});

export const TargetNotScalable = defineError({
  code: "EK_RESOLVER_TARGET_NOT_SCALABLE",
  recovery: "terminal",
  message: "a {kind} of {apiVersion} cannot be scaled: {why}",
  remedy: "Name a workload with the part scale, such as a Deployment or StatefulSet; a CRD can declare one.",
});

export const TargetNotFound = defineError({
  code: "EK_RESOLVER_TARGET_NOT_FOUND",
  recovery: "terminal",
  message: "there is no {kind} {target}",
  remedy: "Check scaleTargetRef.name. The workload must be in the namespace of the ElastiService.",
});

export const TargetForbidden = defineError({
  code: "EK_RESOLVER_TARGET_FORBIDDEN",
  recovery: "terminal",
  message: "this service may not {verb} the scale of {kind} {target}",
  remedy:
    "Grant its account get and patch on the workload's part scale; the chart does so for the kinds in its values. An admission rule may be why, too.",
});

// What else scales it.

export const AutoscalerForbidden = defineError({
  code: "EK_RESOLVER_AUTOSCALER_FORBIDDEN",
  recovery: "terminal",
  message: "this service may not patch the ScaledObject {scaledObject}",
  remedy: "Grant its account patch on scaledobjects in the group keda.sh; the chart does so.",
});
