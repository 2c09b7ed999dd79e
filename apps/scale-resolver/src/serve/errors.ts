import { defineError } from "@evenkeel/runtime";

export const NotReconciled = defineError({
  code: "EK_RESOLVER_NOT_LOOKED_AT",
  recovery: "retryable",
  message:
    "this replica has not reconciled Service {service}: another replica is the leader, or the first reconcile has not finished",
  remedy: "Retry. If the error persists, see the condition Ready of the ElastiService.",
});

export const LeaderSilent = defineError({
  code: "EK_RESOLVER_LEADER_SILENT",
  recovery: "retryable",
  message: "{method} failed: this replica is not the leader, and the leader did not answer",
  remedy:
    "Retry. If the error persists, there is no leader or the shared state is unavailable: see the Lease and the condition StateAvailable.",
});

export const SpecUnreadable = defineError({
  code: "EK_RESOLVER_SPEC_UNREADABLE",
  recovery: "retryable",
  message: "{service} is at 0 replicas, and the spec of ElastiService {name} does not name the workload to wake",
  remedy:
    "Correct the spec; the condition Ready of the ElastiService says what is invalid. Requests are held again after that.",
});

export const NoSuchScaledService = defineError({
  code: "EK_RESOLVER_NO_SUCH_SCALED_SERVICE",
  recovery: "terminal",
  message: "no ElastiService names {what}; ScaledJobs are not supported",
  remedy:
    "Name the ScaledObject in spec.autoscaler of an ElastiService of the same namespace, or the Service in the trigger's metadata as `service`. A ScaledJob has no Service whose requests could be held.",
});
