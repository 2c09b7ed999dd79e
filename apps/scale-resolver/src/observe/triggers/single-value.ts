import { type QueryOutcome, unfitMessage } from "@evenkeel/prometheus";

/** The one number of an answer, or why there is none. */
export type SingleValue = { readonly value: number } | { readonly fault: string };

/** As servers write finite numbers: `0.25`, `1e+21`. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_NUMBERS = /^(?:NaN|[+-]?Inf)$/;

/** Milliseconds by which an answer may be off this process's clock: as far as Prometheus itself looks back. */
const MOST_AGE = 300_000;

/** Nothing but one finite decimal of the present ever becomes a value. */
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
  // What a server writes in place of a number is not repeated: it may be anything.
  return Number.isFinite(value) ? { value } : { fault: "the server returned a value that is not a number" };
}
