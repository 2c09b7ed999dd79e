import { counter, gauge, histogram, upTo } from "@evenkeel/metrics";

const name = upTo(50);
const buckets = [0.000_01, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000];

/**
 * client-go's metrics of workqueues, by the queue's name. A service registers the table once and passes it to each
 * queue.
 */
export const workqueueMetrics = {
  depth: gauge("workqueue_depth", "Waiting keys.", { name }),
  adds: counter("workqueue_adds_total", "Keys that were added.", { name }),
  queued: histogram("workqueue_queue_duration_seconds", "Time that a key waited in the queue.", { name }, buckets),
  worked: histogram("workqueue_work_duration_seconds", "Time that processing a key took.", { name }, buckets),
  unfinished: gauge(
    "workqueue_unfinished_work_seconds",
    "Time that unfinished processing has taken, all keys together.",
    {
      name,
    },
  ),
  longest: gauge(
    "workqueue_longest_running_processor_seconds",
    "Time that the longest unfinished processing has taken.",
    {
      name,
    },
  ),
  retries: counter("workqueue_retries_total", "Keys that were added again after a failure.", { name }),
};
