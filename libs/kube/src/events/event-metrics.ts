import { counter, oneOf } from "@evenkeel/metrics";

export const eventMetrics = {
  events: counter("event_recorder_events_total", "Kubernetes Events, by outcome.", {
    outcome: oneOf("created", "counted", "object_limit", "queue_full", "failed", "stopped"),
  }),
};
