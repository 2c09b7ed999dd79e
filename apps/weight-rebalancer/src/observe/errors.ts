import { defineError } from "@evenkeel/runtime";

// Faults of Secrets that a spec refers to. Messages name the Secret and never its content.

export const SecretIncomplete = defineError({
  code: "EK_WEIGHT_SECRET_INCOMPLETE",
  recovery: "terminal",
  message: "a reference to a Secret in namespace {namespace} has no {field}",
  remedy: "Set the name of the Secret and the key in its data.",
});

export const SecretElsewhere = defineError({
  code: "EK_WEIGHT_SECRET_ELSEWHERE",
  recovery: "terminal",
  message:
    "Secret {secret} is not in namespace {namespace} of the Rebalance, which needs --allow-cross-namespace-secrets",
  remedy:
    "Copy the Secret into the namespace of the Rebalance. The flag lets everyone who can write Rebalances use Secrets of all namespaces.",
});

export const SecretNotFound = defineError({
  code: "EK_WEIGHT_SECRET_NOT_FOUND",
  recovery: "terminal",
  message: "Secret {secret} was not found; its key {key} is needed",
  remedy: "Create the Secret, or correct its name. It is read again at the next reconcile.",
});

export const SecretKeyMissing = defineError({
  code: "EK_WEIGHT_SECRET_KEY_MISSING",
  recovery: "terminal",
  message: "Secret {secret} has no key {key}",
  remedy: "Add the key to the Secret, or correct the reference. Changes of a Secret are read within a minute.",
});

export const SecretForbidden = defineError({
  code: "EK_WEIGHT_SECRET_FORBIDDEN",
  recovery: "terminal",
  message: "access to Secret {secret} is denied; its key {key} is needed",
  remedy:
    "Grant the service account of weight-rebalancer the verb get on secrets in that namespace, as the chart does.",
});

export const SecretNotText = defineError({
  code: "EK_WEIGHT_SECRET_NOT_TEXT",
  recovery: "terminal",
  message: "key {key} of Secret {secret} is not text",
  remedy: "Store credentials and PEM files as UTF-8 text.",
});

export const SecretUnreadable = defineError({
  code: "EK_WEIGHT_SECRET_UNREADABLE",
  recovery: "retryable",
  message: "reading Secret {secret} failed; its key {key} is needed",
  remedy: "The message ends with the cause. The Secret is read again at the next reconcile.",
});

export const BadSource = defineError({
  code: "EK_WEIGHT_BAD_SOURCE",
  recovery: "terminal",
  message: "{fault}",
  remedy: "Correct the field of spec that the message names.",
});
