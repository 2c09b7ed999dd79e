import { CodedError, defineError } from "@evenkeel/runtime";

// Usage.

export const WrongUsage = defineError({
  code: "EK_CLI_WRONG_USAGE",
  recovery: "terminal",
  message: "{fault}",
  remedy: "`kubectl evenkeel <verb> --help` lists the arguments and flags of a verb.",
});

// Connections to services.

export const Unanswered = defineError({
  code: "EK_CLI_UNANSWERED",
  recovery: "retryable",
  message: "{place} does not answer: {fault}",
  remedy:
    "The service is down, its address is wrong, or a NetworkPolicy blocks the connection. Run `kubectl evenkeel doctor`.",
});

export const NotInstalled = defineError({
  code: "EK_CLI_NOT_INSTALLED",
  recovery: "terminal",
  message: "Service {place} not found",
  remedy: "Install its chart, or name its namespace with --service-namespace or its address with --address.",
});

export const BadAnswer = defineError({
  code: "EK_CLI_BAD_ANSWER",
  recovery: "terminal",
  message: "unexpected answer from {place}: {fault}",
  remedy: "The address is not the admin port of a service (8080 by default), or the service has another version.",
});

export const StreamCut = defineError({
  code: "EK_CLI_STREAM_CUT",
  recovery: "retryable",
  message: "the stream of {place} ended: {fault}",
  remedy: "The service restarted, or a proxy closed the connection. `decisions -f` reconnects by itself.",
});

const refused = {
  code: "EK_CLI_REFUSED",
  recovery: "terminal",
  message: "{place} refused the request: {message} ({code})",
  remedy: "The code is the service's own. docs/reference/errors.md says what to do about it.",
} as const;

const RefusedByService = defineError(refused);

/** A service answered with an error. */
export class Refused extends RefusedByService {
  /** HTTP status. */
  readonly status: number;

  constructor(fields: { readonly place: string; readonly message: string; readonly code: string }, status: number) {
    super(fields);
    this.status = status;
  }
}

// Results of verbs.

export const NothingReached = defineError({
  code: "EK_CLI_NOTHING_REACHED",
  recovery: "terminal",
  message: "no service answers",
  remedy: "Set --address, or a kubeconfig of the cluster where the services run.",
});

export const NothingKnown = defineError({
  code: "EK_CLI_NOTHING_KNOWN",
  recovery: "terminal",
  message: "{what}",
  remedy: "Services keep only the last decisions. `kubectl evenkeel decisions` lists them with their objects and IDs.",
});

export const CannotWrite = defineError({
  code: "EK_CLI_CANNOT_WRITE",
  recovery: "terminal",
  message: "cannot write {file}: {fault}",
  remedy: "Name another file with -f, or overwrite it with --force.",
});

export const NoHistory = defineError({
  code: "EK_CLI_NO_HISTORY",
  recovery: "retryable",
  message: "{server} did not give the past of the metric: {fault}",
  remedy: "Name a Prometheus that this machine reaches with --prometheus, for example by kubectl port-forward.",
});

export const NothingToPlanOn = defineError({
  code: "EK_CLI_NOTHING_TO_PLAN_ON",
  recovery: "terminal",
  message: "the load of {known} of {nodes} nodes is known, which is too few for a plan. {why}",
  remedy: "Add the metrics of metrics.k8s.io, or use a policy with `basis: requests`.",
});

/** An error in one line, with its code if it has one. */
export function faultLine(error: unknown, told: string): string {
  const line = told.replaceAll(/\s+/g, " ");
  return error instanceof CodedError ? `${error.code}: ${line}` : line;
}
