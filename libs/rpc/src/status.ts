import { CodedError, type CodedErrorClass, runtimeErrors } from "@evenkeel/runtime";
import { ServerError, Status } from "nice-grpc-common";
import * as errors from "./errors.ts";

/** The trailer that carries the code of a coded error. */
export const CODE_TRAILER = "evenkeel-code";

/** How a call ended, for its caller. */
export interface Outcome {
  readonly status: Status;
  /** Of the error catalogue, where it has one. */
  readonly code: string | undefined;
  readonly message: string;
}

/** gRPC statuses of coded errors, by code. */
export type StatusTable = Readonly<Record<string, Status>>;

const entries: readonly (readonly [CodedErrorClass, Status])[] = [
  [errors.BadRequest, Status.INVALID_ARGUMENT],
  [errors.NotFound, Status.NOT_FOUND],
  [errors.NoSuchMethod, Status.UNIMPLEMENTED],
  [errors.NeedsPost, Status.UNIMPLEMENTED],
  [errors.Unauthenticated, Status.UNAUTHENTICATED],
  [errors.Forbidden, Status.PERMISSION_DENIED],
  [errors.PlaintextRefused, Status.PERMISSION_DENIED],
  [errors.TooBusy, Status.RESOURCE_EXHAUSTED],
  [runtimeErrors.NoRecording, Status.NOT_FOUND],
  [runtimeErrors.WatcherTooSlow, Status.RESOURCE_EXHAUSTED],
  [runtimeErrors.DeadlineExceeded, Status.DEADLINE_EXCEEDED],
];
const known: StatusTable = Object.fromEntries(entries.map(([{ entry }, status]) => [entry.code, status]));

/** Longer messages are cut: they travel in a header. */
const LONGEST_MESSAGE = 1024;

/**
 * What a caller learns of an error. A coded error is meant to be read: it goes out with its code, its own message and
 * no cause; where no table has its status, UNAVAILABLE says "try again" and FAILED_PRECONDITION "do not". Anything else
 * is a defect, and tells nothing of what is inside.
 */
export function outcomeOf(error: unknown, statuses: StatusTable = {}): Outcome {
  if (error instanceof ServerError) return { status: error.code, code: undefined, message: error.details };
  if (!(error instanceof CodedError) || error.code === runtimeErrors.Internal.entry.code) {
    return { status: Status.INTERNAL, code: undefined, message: "internal error; see the log" };
  }
  const otherwise = error.recovery === "retryable" ? Status.UNAVAILABLE : Status.FAILED_PRECONDITION;
  const status = statuses[error.code] ?? known[error.code] ?? otherwise;
  return { status, code: error.code, message: error.message.slice(0, LONGEST_MESSAGE) };
}

/** `NOT_FOUND` for 5. */
export function statusName(status: Status): string {
  // A peer may send a number that no status has.
  return (Status as Partial<Record<number, string>>)[status] ?? "UNKNOWN";
}
