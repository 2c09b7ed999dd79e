import { counter, oneOf } from "@evenkeel/metrics";

export const eventMetrics = {
  events: counter("event_recorder_events_total", "Kubernetes Events, by what became of them.", {
    outcome: oneOf("created", "counted", "object_limit", "queue_full", "failed", "stopped"),
  }),
};
