import { defineError } from "@evenkeel/runtime";

// What a spec names and a Secret does not give. Each says which Secret, none what is in it.

export const SecretIncomplete = defineError({
  code: "EK_WEIGHT_SECRET_INCOMPLETE",
  recovery: "terminal",
  message: "a reference to a Secret in namespace {namespace} has no {field}",
  remedy: "A reference needs the Secret's name and the key in its data.",
});

export const SecretElsewhere = defineError({
  code: "EK_WEIGHT_SECRET_ELSEWHERE",
  recovery: "terminal",
  message:
    "Secret {secret} is not in namespace {namespace} of the object that names it; --allow-cross-namespace-secrets would allow that",
  remedy:
    "Copy the Secret into the object's namespace. The flag lets everybody who may write Rebalances use Secrets of all namespaces.",
});

export const SecretNotFound = defineError({
  code: "EK_WEIGHT_SECRET_NOT_FOUND",
  recovery: "terminal",
  message: "there is no Secret {secret}, whose key {key} is asked for",
  remedy: "Make the Secret, or correct its name. It is looked for again at the next turn.",
});

export const SecretKeyMissing = defineError({
  code: "EK_WEIGHT_SECRET_KEY_MISSING",
  recovery: "terminal",
  message: "Secret {secret} has no key {key}",
  remedy: "Add the key to the Secret, or correct the reference. A change of a Secret is seen within a minute.",
});

export const SecretForbidden = defineError({
  code: "EK_WEIGHT_SECRET_FORBIDDEN",
  recovery: "terminal",
  message: "Secret {secret}, whose key {key} is asked for, may not be read",
  remedy: "Grant this service's account the verb get on secrets in that namespace; the chart does so.",
});

export const SecretNotText = defineError({
  code: "EK_WEIGHT_SECRET_NOT_TEXT",
  recovery: "terminal",
  message: "key {key} of Secret {secret} holds no text",
  remedy: "Credentials and PEM files are text in UTF-8.",
});

export const SecretUnreadable = defineError({
  code: "EK_WEIGHT_SECRET_UNREADABLE",
  recovery: "retryable",
  message: "Secret {secret}, whose key {key} is asked for, could not be read",
  remedy: "The cause follows in the line. It is read again at the next turn.",
});

export const BadSource = defineError({
  code: "EK_WEIGHT_BAD_SOURCE",
  recovery: "terminal",
  message: "{fault}",
  remedy: "The message names the field of spec and what it takes.",
});
