import { defineError } from "@evenkeel/runtime";

export const NotLookedAt = defineError({
  code: "EK_RESOLVER_NOT_LOOKED_AT",
  recovery: "retryable",
  message: "this replica has not looked at Service {service}: another one leads, or its first turn is still to come",
  remedy: "Try again. If it lasts, the condition Ready of the ElastiService says what is in the way.",
});
