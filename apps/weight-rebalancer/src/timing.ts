import { durationMilliseconds, type Rebalance } from "@evenkeel/api";
import { hashText } from "@evenkeel/scoring";

type Spec = Rebalance["spec"];

const DEFAULT_INTERVAL = 60_000;

/** Longest wait for the state of a target, in milliseconds. */
const READ_LIMIT = 30_000;

/**
 * Longest wait for a metric, in milliseconds, whatever the timeout of the query: an edit of the spec, such as a pause,
 * takes effect after it.
 */
const QUERY_LIMIT = 300_000;

/** Longest wait until a target has accepted a weight, in milliseconds. */
export const WRITE_LIMIT = 60_000;

/** Milliseconds for the calls of a reconcile to the API server and to shared state. */
const OVERHEAD = 30_000;

/** Milliseconds between two reconciles of a Rebalance; at least a second. */
export function intervalOf({ interval }: Pick<Spec, "interval">): number {
  return Math.max(1000, durationMilliseconds(interval ?? "") ?? DEFAULT_INTERVAL);
}

/** A reading that is older than an interval is of no use. */
export function readLimit(spec: Pick<Spec, "interval">): number {
  return Math.min(READ_LIMIT, intervalOf(spec));
}

/** The milliseconds that a query may take whose timeout has these seconds: not much more than an interval. */
export function queryLimit(timeout: number, spec: Pick<Spec, "interval">): number {
  return Math.min(timeout * 1000, Math.max(READ_LIMIT, Math.min(intervalOf(spec), QUERY_LIMIT)));
}

/** A decision that is older than an interval is not written. */
export function writeLimit(spec: Pick<Spec, "interval">): number {
  return Math.min(WRITE_LIMIT, intervalOf(spec));
}

/**
 * Milliseconds after which a reconcile is aborted. Its queries, reads and writes have limits of their own, which end
 * before it.
 */
export function reconcileDeadline(spec: Partial<Pick<Spec, "interval" | "metrics" | "metricSources">>): number {
  const { metrics, metricSources = [] } = spec;
  const sources = metrics ? [metrics] : metricSources;
  const queries = sources.map(({ prometheus }) => queryLimit(prometheus?.timeout ?? 0, spec));
  return Math.max(READ_LIMIT, ...queries) + WRITE_LIMIT + OVERHEAD;
}

/**
 * Up to this part of the interval, and up to a second, reconciles are delayed so that they do not all start at once.
 */
const SPREAD = 0.05;

/**
 * Milliseconds until the next reconcile. Reconciles with equal intervals start together, so that the changes of a zone
 * are sent as one batch, which costs one call instead of one each.
 */
export function untilNextReconcile(now: number, interval: number, key: string): number {
  const part = hashText(key).low / 2 ** 32;
  return interval - (now % interval) + part * Math.min(1000, interval * SPREAD);
}
