import { defineError } from "@evenkeel/runtime";

export const QueryQueueFull = defineError({
  code: "EK_PROMETHEUS_QUERY_QUEUE_FULL",
  recovery: "retryable",
  message: "{waiting} queries already wait for {origin}: query it less often or simplify the queries",
  remedy: "The server answers more slowly than it is queried.",
});

export const AnswerTooLarge = defineError({
  code: "EK_PROMETHEUS_ANSWER_TOO_LARGE",
  recovery: "terminal",
  message: "the answer is larger than {limit} bytes: aggregate in the query, for example with sum(…)",
  remedy: "A query should return one series, or few.",
});

export const ServerDenied = defineError({
  code: "EK_PROMETHEUS_SERVER_DENIED",
  recovery: "terminal",
  message: "metric server {host} may not be queried: it is not in --prometheus-allow, or its address is link-local",
  remedy: "Add the host or its network to --prometheus-allow. Link-local addresses are always denied.",
});

export const Stopped = defineError({
  code: "EK_PROMETHEUS_STOPPED",
  recovery: "retryable",
  message: "this process is shutting down and sends no further queries",
  remedy: "Nothing to do: the next process queries again.",
});
