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
  message: "{operation} was not done: the shared state is away",
  remedy:
    "Nothing was written. The cause follows in the line. The service goes on from memory, does nothing irreversible, and " +
    "catches up when Redis is back, or when the disk of the SQLite file can be written again.",
});

export const NoAnswer = defineError({
  code: "EK_STATE_NO_ANSWER",
  recovery: "retryable",
  message: "{operation} was sent to Redis and got no answer; if it writes, it may have happened or not",
  remedy:
    "Redis is slow, hung or gone. Every write can be repeated: records are compared by version, counters are absolute. " +
    "If Redis is merely slow, raise --state-deadline.",
});

export const Conflict = defineError({
  code: "EK_STATE_CONFLICT",
  recovery: "terminal",
  message: "record {name} of {object} is not at the expected version",
  remedy: "Somebody else wrote it, or a fail-over lost the last write. The service reads it again and decides afresh.",
});

export const Fenced = defineError({
  code: "EK_STATE_FENCED",
  recovery: "terminal",
  message: "token {token} was refused for {object}: scope {scope} has seen {highest}",
  remedy:
    "A newer leader has written, so this one must stop writing. If the Lease was deleted and counts from the start again, " +
    "let the state forget the higher token: delete the key evenkeel:<service>:{<object uid>}:fences in Redis, or the rows of " +
    "table fences in the SQLite file.",
});

export const Corrupt = defineError({
  code: "EK_STATE_CORRUPT",
  recovery: "terminal",
  message: "{key} holds something that this service did not write: {fault}",
  remedy: "Look at the key, then delete it; the service writes it afresh. Check that nothing else uses the same keys.",
});

export const Refused = defineError({
  code: "EK_STATE_REFUSED",
  recovery: "terminal",
  message: "Redis refused {operation}",
  remedy:
    "Redis's own words follow in the line. A user without rights needs ~evenkeel:*, &evenkeel:* and +@all -@dangerous +info.",
});

export const FileInUse = defineError({
  code: "EK_STATE_FILE_IN_USE",
  recovery: "terminal",
  message: "{file} is in use by another process",
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
  message: "{file} cannot be used as state: {fault}",
  remedy:
    "Give a writable path. A damaged file can be moved away: the service starts with an empty one and decides afresh.",
});
