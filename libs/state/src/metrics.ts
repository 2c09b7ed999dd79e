import { counter, gauge, type Metrics, oneOf } from "@evenkeel/metrics";
import { CodedError } from "@evenkeel/runtime";
import { Conflict, Fenced, NoAnswer, Unavailable } from "./errors.ts";

export const operations = [
  "get",
  "list",
  "put",
  "delete",
  "raise",
  "forget",
  "report",
  "withdraw",
  "counts",
  "append",
  "read",
  "newest",
  "publish",
] as const;

export type Operation = (typeof operations)[number];

export const stateMetrics = {
  available: gauge("evenkeel_state_available", "1 while the shared state answers, 0 while it is away.", {}),
  calls: counter("evenkeel_state_calls_total", "Calls to the shared state.", {
    operation: oneOf(...operations),
    outcome: oneOf("ok", "conflict", "fenced", "unavailable", "no_answer", "failed"),
  }),
  gaps: counter(
    "evenkeel_state_gaps_total",
    "Reconnects after which subscribers were told that they may have missed something.",
    {},
  ),
};

export type StateMetrics = Metrics<typeof stateMetrics>;

/** Runs one call and counts how it ended. */
export async function counted<T>(metrics: StateMetrics, operation: Operation, call: () => Promise<T>): Promise<T> {
  try {
    const result = await call();
    metrics.calls.inc({ operation, outcome: "ok" });
    return result;
  } catch (error) {
    metrics.calls.inc({ operation, outcome: outcomeOf(error) });
    throw error;
  }
}

function outcomeOf(error: unknown): "conflict" | "fenced" | "unavailable" | "no_answer" | "failed" {
  switch (error instanceof CodedError ? error.code : undefined) {
    case Conflict.entry.code:
      return "conflict";
    case Fenced.entry.code:
      return "fenced";
    case Unavailable.entry.code:
      return "unavailable";
    case NoAnswer.entry.code:
      return "no_answer";
    default:
      return "failed";
  }
}
