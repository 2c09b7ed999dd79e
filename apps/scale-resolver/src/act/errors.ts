import { defineError } from "@evenkeel/runtime";

// The workload that an ElastiService names.

export const BadTarget = defineError({
  code: "EK_RESOLVER_BAD_TARGET",
  recovery: "terminal",
  message: "{apiVersion} is not a valid API version, so {kind} cannot be scaled",
  remedy: "Set scaleTargetRef.apiVersion as in the workload's manifest, for example apps/v1 or argoproj.io/v1alpha1.",
});

export const TargetKindUnknown = defineError({
  code: "EK_RESOLVER_TARGET_KIND_UNKNOWN",
  recovery: "terminal",
  message: "the API server has no kind {kind} in {apiVersion}",
  remedy: "Check scaleTargetRef.apiVersion and kind with `kubectl api-resources`. Rollout requires Argo Rollouts.",
});

export const TargetNotScalable = defineError({
  code: "EK_RESOLVER_TARGET_NOT_SCALABLE",
  recovery: "terminal",
  message: "{kind} of {apiVersion} cannot be scaled: {why}",
  remedy: "Name a workload with the scale subresource, such as a Deployment or StatefulSet.",
});

export const TargetNotFound = defineError({
  code: "EK_RESOLVER_TARGET_NOT_FOUND",
  recovery: "terminal",
  message: "{kind} {target} not found",
  remedy: "Check scaleTargetRef.name. The workload must be in the namespace of the ElastiService.",
});

export const TargetForbidden = defineError({
  code: "EK_RESOLVER_TARGET_FORBIDDEN",
  recovery: "terminal",
  message: "scale-resolver is not allowed to {verb} the scale of {kind} {target}",
  remedy:
    "Grant get and patch on the workload's scale subresource to the service account; the chart does so for the kinds in its values. An admission rule can be the cause, too.",
});

// The autoscaler of the workload.

export const AutoscalerForbidden = defineError({
  code: "EK_RESOLVER_AUTOSCALER_FORBIDDEN",
  recovery: "terminal",
  message: "scale-resolver is not allowed to patch ScaledObject {scaledObject}",
  remedy: "Grant patch on scaledobjects.keda.sh to the service account; the chart does so.",
});
