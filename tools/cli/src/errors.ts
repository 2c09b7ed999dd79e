import { CodedError, defineError } from "@evenkeel/runtime";

// What the user wrote.

export const WrongUsage = defineError({
  code: "EK_CLI_WRONG_USAGE",
  recovery: "terminal",
  message: "{fault}",
  remedy: "`kubectl evenkeel <verb> --help` says what a verb takes.",
});

// The way to a service.

export const Unanswered = defineError({
  code: "EK_CLI_UNANSWERED",
  recovery: "retryable",
  message: "{place} gives no answer: {fault}",
  remedy:
    "The service is down or its address is wrong. `kubectl evenkeel doctor` looks at each part of the way and says what to do.",
});

export const NotInstalled = defineError({
  code: "EK_CLI_NOT_INSTALLED",
  recovery: "terminal",
  message: "there is no Service {place}",
  remedy: "Install its chart, or say where it is with --service-namespace or --address.",
});

export const BadAnswer = defineError({
  code: "EK_CLI_BAD_ANSWER",
  recovery: "terminal",
  message: "{place} answers what no service of this project does: {fault}",
  remedy: "The address is not the admin port of a service (8080 by default), or the service is of another version.",
});

export const StreamCut = defineError({
  code: "EK_CLI_STREAM_CUT",
  recovery: "retryable",
  message: "the stream of {place} ended: {fault}",
  remedy: "The service restarts, or something between cut the connection. `decisions -f` connects again by itself.",
});

const refused = {
  code: "EK_CLI_REFUSED",
  recovery: "terminal",
  message: "{place} refuses: {message} ({code})",
  remedy: "The code is the service's own; the reference of errors lists it with what to do.",
} as const;

const RefusedByService = defineError(refused);

/** A service answered, and the answer is no. */
export class Refused extends RefusedByService {
  /** HTTP status. */
  readonly status: number;

  constructor(fields: { readonly place: string; readonly message: string; readonly code: string }, status: number) {
    super(fields);
    this.status = status;
  }
}

// What a verb came to.

export const NothingReached = defineError({
  code: "EK_CLI_NOTHING_REACHED",
  recovery: "terminal",
  message: "no service was reached",
  remedy: "Give --address, or a kubeconfig of the cluster that the services run in.",
});

export const NothingKnown = defineError({
  code: "EK_CLI_NOTHING_KNOWN",
  recovery: "terminal",
  message: "{what}",
  remedy: "Services keep the last decisions only; `kubectl evenkeel decisions` lists them with their objects and ids.",
});

export const CannotWrite = defineError({
  code: "EK_CLI_CANNOT_WRITE",
  recovery: "terminal",
  message: "{file} cannot be written: {fault}",
  remedy: "Name another file with -f, or let it be overwritten with --force.",
});

/** One line of what went wrong, with its code where it has one. */
export function faultLine(error: unknown, told: string): string {
  const line = told.replaceAll(/\s+/g, " ");
  return error instanceof CodedError ? `${error.code}: ${line}` : line;
}
