import { counter, gauge, histogram, oneOf, upTo } from "@evenkeel/metrics";

const controller = upTo(50);

/**
 * How a reconcile ended: controller-runtime's results, and `overtaken` for one that stopped because its object changed
 * meanwhile.
 */
export type ReconcileResult = "success" | "requeue_after" | "overtaken" | "error";

/**
 * controller-runtime's metrics, by the controller's name. A service registers the table once and passes it to each
 * controller.
 */
export const controllerMetrics = {
  reconciles: counter("controller_runtime_reconcile_total", "Reconciles, by result.", {
    controller,
    result: oneOf<ReconcileResult>("success", "requeue_after", "overtaken", "error"),
  }),
  errors: counter("controller_runtime_reconcile_errors_total", "Reconciles that failed.", { controller }),
  terminal: counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Reconciles that failed with an error that a retry does not help.",
    { controller },
  ),
  timeouts: counter("controller_runtime_reconcile_timeouts_total", "Reconciles that were aborted at their deadline.", {
    controller,
  }),
  duration: histogram(
    "controller_runtime_reconcile_time_seconds",
    "Time of one reconcile.",
    { controller },
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  ),
  most: gauge("controller_runtime_max_concurrent_reconciles", "Maximum concurrent reconciles.", { controller }),
  active: gauge("controller_runtime_active_workers", "Reconciles in progress.", { controller }),
};
