import { defineError } from "./error.ts";

export const BadSettings = defineError({
  code: "EK_RUNTIME_BAD_SETTINGS",
  recovery: "terminal",
  message: "{fault}",
  remedy: "Each line names a setting and what it takes. `--help` lists all of them, with their variables and defaults.",
});

export const UnknownVerb = defineError({
  code: "EK_RUNTIME_UNKNOWN_VERB",
  recovery: "terminal",
  message: "there is no verb {verb}; --help lists them",
  remedy: "`--help` lists the verbs with what each takes.",
});

export const PortInUse = defineError({
  code: "EK_RUNTIME_PORT_IN_USE",
  recovery: "terminal",
  message: "the {server} server cannot listen on {address}: the port is in use; choose another with {flag}",
  remedy:
    "End the process that holds the port, or give this one another. Two services on one host need different ports.",
});

export const CannotListen = defineError({
  code: "EK_RUNTIME_CANNOT_LISTEN",
  recovery: "terminal",
  message: "the {server} server cannot listen on {address}; see {flag} and --listen-host",
  remedy:
    "The cause follows in the line: an address that is not this host's, or a port below 1024 without the right to it.",
});

export const StartFailed = defineError({
  code: "EK_RUNTIME_START_FAILED",
  recovery: "terminal",
  message: "{component} did not start",
  remedy: "The cause follows in the line. What had started before it was stopped again.",
});

export const ComponentDied = defineError({
  code: "EK_RUNTIME_COMPONENT_DIED",
  recovery: "terminal",
  message: "{component} died",
  remedy:
    "The cause follows in the line. The process stops in order and exits 1, so that its supervisor starts it afresh.",
});

export const Unhandled = defineError({
  code: "EK_RUNTIME_UNHANDLED",
  recovery: "terminal",
  message: "nothing handled an error ({origin})",
  remedy: "This is a defect: please report it with the stack in the log line. The process stops in order and exits 1.",
});

export const SecondSignal = defineError({
  code: "EK_RUNTIME_SECOND_SIGNAL",
  recovery: "terminal",
  message: "{signal} came while stopping: exiting at once",
  remedy: "Requests in flight were cut. One signal is enough; the process then has --drain-timeout to finish.",
});

export const StopFailed = defineError({
  code: "EK_RUNTIME_STOP_FAILED",
  recovery: "terminal",
  message: "{component} did not stop cleanly",
  remedy: "The cause follows in the line. The process went on to stop the rest and exits 1.",
});

export const DeadlineExceeded = defineError({
  code: "EK_RUNTIME_DEADLINE_EXCEEDED",
  recovery: "retryable",
  message: "{what} took longer than {milliseconds} ms",
  remedy: "The other side is slow or gone. If it is merely slow, raise the deadline's setting.",
});

export const WatcherTooSlow = defineError({
  code: "EK_RUNTIME_WATCHER_TOO_SLOW",
  recovery: "retryable",
  message: "a reader of decisions fell more than {limit} behind and was ended",
  remedy: "List the decisions again and watch from there.",
});

export const SnapshotNotJson = defineError({
  code: "EK_RUNTIME_SNAPSHOT_NOT_JSON",
  recovery: "terminal",
  message: "the snapshot holds {what} at {path}, which JSON cannot carry",
  remedy: "This is a defect of the service: a snapshot is plain data, so that it can be replayed.",
});

export const BadRecording = defineError({
  code: "EK_RUNTIME_BAD_RECORDING",
  recovery: "terminal",
  message: "{file} cannot be replayed: {fault}",
  remedy: "Give a file that /api/v1/Decisions/Snapshot of the same service wrote.",
});

export const NoRecording = defineError({
  code: "EK_RUNTIME_NO_RECORDING",
  recovery: "terminal",
  message: "the flight recorder has no snapshot of decision {id}",
  remedy: "It keeps the last ones only; raise --recorded-snapshots or --recorded-bytes to keep more.",
});

export const NotTheSame = defineError({
  code: "EK_RUNTIME_REPLAY_DIFFERS",
  recovery: "terminal",
  message: "the snapshot now leads to another decision than the one recorded by version {version}",
  remedy: "Both are printed. With the same version this is a defect: please report it with the file.",
});

export const Internal = defineError({
  code: "EK_RUNTIME_INTERNAL",
  recovery: "terminal",
  message: "something went wrong inside; the log says what",
  remedy: "This is a defect: please report it with the log line.",
});

export const NoSuchPath = defineError({
  code: "EK_RUNTIME_NO_SUCH_PATH",
  recovery: "terminal",
  message: "nothing answers {method} on this path",
  remedy:
    "The admin port serves /, /metrics and /api/v1/<Service>/<Method>; the health port /healthz, /livez and /readyz.",
});

export const BadRequest = defineError({
  code: "EK_RUNTIME_BAD_REQUEST",
  recovery: "terminal",
  message: "the request cannot be meant: {fault}",
  remedy: "The message names the parameter and what it takes.",
});

export const WrongWords = defineError({
  code: "EK_RUNTIME_WRONG_WORDS",
  recovery: "terminal",
  message: "the verb {verb} is used as: {usage}",
  remedy: "`--help` lists the verbs with what each takes.",
});
