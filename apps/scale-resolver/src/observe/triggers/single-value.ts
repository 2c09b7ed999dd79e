import { type QueryOutcome, unfitMessage } from "@evenkeel/prometheus";

/** The only number of an answer, or why there is none. */
export type SingleValue = { readonly value: number } | { readonly fault: string };

/** Finite numbers in the format of servers: `0.25`, `1e+21`. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_NUMBERS = /^(?:NaN|[+-]?Inf)$/;

/** Maximum milliseconds between the time of an answer and this clock: the lookback of Prometheus. */
const MOST_AGE = 300_000;

/** Accepts only a single, finite and current decimal. */
export function singleValue(outcome: QueryOutcome): SingleValue {
  if (outcome.kind === "failed") return { fault: outcome.message };
  if (outcome.kind === "unfit") return { fault: unfitMessage(outcome.resultType) };
  const { samples, askedAt } = outcome;
  const [sample, ...others] = samples;
  if (!sample)
    return {
      fault:
        "the query returned no sample: check that the series is scraped, or add `or vector(0)` to count no series as 0",
    };
  if (others.length > 0)
    return { fault: `the query returned ${samples.length} series: aggregate them with \`sum(…)\`` };
  if (Math.abs(askedAt - sample.seconds * 1000) > MOST_AGE)
    return {
      fault: `the answer is for ${new Date(sample.seconds * 1000).toISOString()}: the clock of the server or of this host is wrong, or the answer is outdated`,
    };
  if (NOT_NUMBERS.test(sample.value))
    return {
      fault: `the value is ${sample.value}: check for a division by zero, or for scalar(…) of no or several series`,
    };
  const value = DECIMAL.test(sample.value) ? Number(sample.value) : NaN;
  // The text of the server is not repeated, because it may contain anything.
  return Number.isFinite(value) ? { value } : { fault: "the server returned a value that is not a number" };
}
