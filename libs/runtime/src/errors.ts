import { defineError } from "./error.ts";

export const BadSettings = defineError({
  code: "EK_RUNTIME_BAD_SETTINGS",
  recovery: "terminal",
  message: "{fault}",
  remedy:
    "Each line names a setting and its valid values. `--help` lists all settings with their variables and defaults.",
});

export const UnknownVerb = defineError({
  code: "EK_RUNTIME_UNKNOWN_VERB",
  recovery: "terminal",
  message: "unknown verb {verb}; --help lists the verbs",
  remedy: "`--help` lists the verbs and their arguments.",
});

export const PortInUse = defineError({
  code: "EK_RUNTIME_PORT_IN_USE",
  recovery: "terminal",
  message: "the {server} server cannot listen on {address}: the port is in use; choose another with {flag}",
  remedy: "Stop the process that uses the port, or choose another port. Two services on one host need different ports.",
});

export const CannotListen = defineError({
  code: "EK_RUNTIME_CANNOT_LISTEN",
  recovery: "terminal",
  message: "the {server} server cannot listen on {address}; see {flag} and --listen-host",
  remedy:
    "The line ends with the cause, such as an address that this host does not have, or a port below 1024 without permission.",
});

export const StartFailed = defineError({
  code: "EK_RUNTIME_START_FAILED",
  recovery: "terminal",
  message: "{component} failed to start",
  remedy: "The line ends with the cause. The components that had started were stopped.",
});

export const ComponentDied = defineError({
  code: "EK_RUNTIME_COMPONENT_DIED",
  recovery: "terminal",
  message: "{component} failed",
  remedy: "The line ends with the cause. The process shuts down and exits 1, so that its supervisor restarts it.",
});

export const Unhandled = defineError({
  code: "EK_RUNTIME_UNHANDLED",
  recovery: "terminal",
  message: "unhandled {origin}",
  remedy: "This is a defect: please report it with the stack in the log line. The process shuts down and exits 1.",
});

export const SecondSignal = defineError({
  code: "EK_RUNTIME_SECOND_SIGNAL",
  recovery: "terminal",
  message: "received {signal} during shutdown: exiting at once",
  remedy: "Requests in flight were aborted. After the first signal the process has --drain-timeout to finish.",
});

export const StopFailed = defineError({
  code: "EK_RUNTIME_STOP_FAILED",
  recovery: "terminal",
  message: "{component} failed to stop",
  remedy: "The line ends with the cause. The process stopped the other components and exits 1.",
});

export const DeadlineExceeded = defineError({
  code: "EK_RUNTIME_DEADLINE_EXCEEDED",
  recovery: "retryable",
  message: "{what} took longer than {milliseconds} ms",
  remedy: "The other side is slow or unreachable. If it is slow, raise the setting of the deadline.",
});

export const WatcherTooSlow = defineError({
  code: "EK_RUNTIME_WATCHER_TOO_SLOW",
  recovery: "retryable",
  message: "a watch of decisions fell more than {limit} decisions behind and was closed",
  remedy: "List the decisions again and watch from there.",
});

export const SnapshotNotJson = defineError({
  code: "EK_RUNTIME_SNAPSHOT_NOT_JSON",
  recovery: "terminal",
  message: "the snapshot contains {what} at {path}, which JSON cannot represent",
  remedy: "This is a defect of the service: a snapshot is plain data, so that it can be replayed.",
});

export const BadRecording = defineError({
  code: "EK_RUNTIME_BAD_RECORDING",
  recovery: "terminal",
  message: "{file} cannot be replayed: {fault}",
  remedy: "Use a file from /api/v1/Decisions/Snapshot of the same service.",
});

export const NoRecording = defineError({
  code: "EK_RUNTIME_NO_RECORDING",
  recovery: "terminal",
  message: "the flight recorder has no snapshot of decision {id}",
  remedy:
    "The flight recorder keeps only the latest snapshots. Raise --recorded-snapshots or --recorded-bytes to keep more.",
});

export const NotTheSame = defineError({
  code: "EK_RUNTIME_REPLAY_DIFFERS",
  recovery: "terminal",
  message: "the decision differs from the one that version {version} recorded",
  remedy: "Both decisions are printed. If the versions are the same, this is a defect: please report it with the file.",
});

export const Internal = defineError({
  code: "EK_RUNTIME_INTERNAL",
  recovery: "terminal",
  message: "internal error; see the log",
  remedy: "This is a defect: please report it with the log line.",
});

export const NoSuchPath = defineError({
  code: "EK_RUNTIME_NO_SUCH_PATH",
  recovery: "terminal",
  message: "no route for {method} on this path",
  remedy:
    "The admin port serves /, /metrics and /api/v1/<Service>/<Method>; the health port /healthz, /livez and /readyz.",
});

export const BadRequest = defineError({
  code: "EK_RUNTIME_BAD_REQUEST",
  recovery: "terminal",
  message: "invalid request: {fault}",
  remedy: "The message names the parameter and its valid values.",
});

export const WrongWords = defineError({
  code: "EK_RUNTIME_WRONG_WORDS",
  recovery: "terminal",
  message: "wrong arguments for {verb}; usage: {usage}",
  remedy: "`--help` lists the verbs and their arguments.",
});
