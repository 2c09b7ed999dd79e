import { defineError } from "@evenkeel/runtime";

export const NotLookedAt = defineError({
  code: "EK_RESOLVER_NOT_LOOKED_AT",
  recovery: "retryable",
  message: "this replica has not looked at Service {service}: another one leads, or its first turn is still to come",
  remedy: "Try again. If it lasts, the condition Ready of the ElastiService says what is in the way.",
});

export const LeaderSilent = defineError({
  code: "EK_RESOLVER_LEADER_SILENT",
  recovery: "retryable",
  message: "{method} was not done: this replica does not lead, and the one that does has not answered",
  remedy:
    "Try again. If it lasts, nobody leads or the shared state is away: look at the Lease and at the condition StateAvailable.",
});

export const SpecUnreadable = defineError({
  code: "EK_RESOLVER_SPEC_UNREADABLE",
  recovery: "retryable",
  message: "{service} sleeps, and the spec of the ElastiService {name} does not say what to wake",
  remedy: "Put the spec right, as the condition Ready of the ElastiService says. Requests are held again from then on.",
});

export const NoSuchScaledService = defineError({
  code: "EK_RESOLVER_NO_SUCH_SCALED_SERVICE",
  recovery: "terminal",
  message: "no ElastiService speaks of {what}, and a ScaledJob has no Service to answer for",
  remedy:
    "Name the ScaledObject in spec.autoscaler of an ElastiService of the same namespace, or the Service in the trigger's metadata as `service`. ScaledJobs are not supported: requests are held for a Service and answered by its pods, and a job has neither.",
});
