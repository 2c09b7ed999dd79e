import { defineError } from "@evenkeel/runtime";

export const QueryQueueFull = defineError({
  code: "EK_PROMETHEUS_QUERY_QUEUE_FULL",
  recovery: "retryable",
  message: "{waiting} queries wait for {origin} already: ask it less often or lighten the queries",
  remedy: "The server answers more slowly than it is asked, whoever asks it.",
});

export const AnswerTooLarge = defineError({
  code: "EK_PROMETHEUS_ANSWER_TOO_LARGE",
  recovery: "terminal",
  message: "the answer is larger than {limit} bytes: aggregate in the query, for example with sum(…)",
  remedy: "A query should leave one series, or few.",
});

export const Stopped = defineError({
  code: "EK_PROMETHEUS_STOPPED",
  recovery: "retryable",
  message: "this process is stopping and asks no server any more",
  remedy: "None is needed: the next process asks again.",
});
