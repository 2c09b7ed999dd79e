import { defineError } from "@evenkeel/runtime";

export const BadAddress = defineError({
  code: "EK_STATE_BAD_ADDRESS",
  recovery: "terminal",
  message: "{address} is not {takes}",
  remedy: "Set EVENKEEL_STATE to one of the listed forms.",
});

export const BadArgument = defineError({
  code: "EK_STATE_BAD_ARGUMENT",
  recovery: "terminal",
  message: "{what}",
  remedy: "This is a defect of the service: please report it with the log line. Nothing was written.",
});

export const TooLarge = defineError({
  code: "EK_STATE_TOO_LARGE",
  recovery: "terminal",
  message: "{what} takes {bytes} bytes; at most {limit} are stored",
  remedy: "Shared state is for small facts. This is a defect of the service: please report it with the log line.",
});

export const Unavailable = defineError({
  code: "EK_STATE_UNAVAILABLE",
  recovery: "retryable",
  message: "{operation} failed: the shared state is unavailable",
  remedy:
    "Nothing was written. The line ends with the cause. The service continues from memory, does nothing irreversible, and " +
    "catches up when Redis answers, or when the disk of the SQLite file is writable.",
});

export const NoAnswer = defineError({
  code: "EK_STATE_NO_ANSWER",
  recovery: "retryable",
  message: "Redis did not answer {operation}; a write may or may not have happened",
  remedy:
    "Redis is slow, hung or unreachable. Every write can be retried: records are compared by version, counters are absolute. " +
    "If Redis is slow, raise --state-deadline.",
});

export const Conflict = defineError({
  code: "EK_STATE_CONFLICT",
  recovery: "terminal",
  message: "record {name} of {object} is not at the expected version",
  remedy: "Another process wrote it, or a fail-over lost the last write. The service reads it again and decides again.",
});

export const Fenced = defineError({
  code: "EK_STATE_FENCED",
  recovery: "terminal",
  message: "token {token} was refused for {object}: scope {scope} has seen {highest}",
  remedy:
    "A newer leader has written, so this one must stop writing. If the Lease was deleted and its count restarted, " +
    "remove the higher token: delete the key evenkeel:<service>:{<object uid>}:fences in Redis, or the rows of " +
    "table fences in the SQLite file.",
});

export const Corrupt = defineError({
  code: "EK_STATE_CORRUPT",
  recovery: "terminal",
  message: "{key} contains data that this service did not write: {fault}",
  remedy: "Inspect the key, then delete it; the service writes it again. Check that nothing else uses the same keys.",
});

export const Refused = defineError({
  code: "EK_STATE_REFUSED",
  recovery: "terminal",
  message: "Redis refused {operation}",
  remedy:
    "The line ends with the error of Redis. The user needs the rights ~evenkeel:*, &evenkeel:* and +@all -@dangerous +info.",
});

export const FileInUse = defineError({
  code: "EK_STATE_FILE_IN_USE",
  recovery: "terminal",
  message: "another process uses {file}",
  remedy:
    "A SQLite file serves one replica. Stop the other process, give each its own file, or set EVENKEEL_STATE to a Redis.",
});

export const NoSqlite = defineError({
  code: "EK_STATE_NO_SQLITE",
  recovery: "terminal",
  message: "state in SQLite needs Node.js 24 or later; this is {version}",
  remedy: "Run the service with Node.js 24 or later, as its image does, or set EVENKEEL_STATE to a Redis.",
});

export const BadFile = defineError({
  code: "EK_STATE_BAD_FILE",
  recovery: "terminal",
  message: "cannot use {file} as state: {fault}",
  remedy: "Use a writable path. A damaged file can be moved away: the service then starts with an empty one.",
});
