import { type QueryAnswer, type Sample, unfitMessage } from "@evenkeel/prometheus";
import type { MetricFault, MetricReading } from "../../decide/snapshot.ts";
import { type ExactNumber, exactNumber, reduce, type Reducer } from "./reduce.ts";

/** How an answer is read. */
export interface ReadingRules {
  /** What the reading names as its source. */
  readonly source: string;
  readonly reducer: Reducer | undefined;
  /** Milliseconds after which a sample is stale. */
  readonly maxAge: number;
  /** When the query was sent, by this process's wall clock. */
  readonly askedAt: number;
}

/** Most series for a reducer; more are a sign of a wrong query. */
const MOST_SAMPLES = 10_000;

const NOT_NUMBERS = /^(?:NaN|[+-]?Inf)$/i;

/** The metric in the answer of a server, or why there is none. Only a finite decimal becomes a value. */
export function readingOf(
  answer: Extract<QueryAnswer, { kind: "samples" | "unfit" }>,
  rules: ReadingRules,
): MetricReading {
  if (answer.kind === "unfit") return faulty(rules.source, "QueryFailed", unfitMessage(answer.resultType));
  const { samples } = answer;
  const [first, second] = samples;
  if (first === undefined)
    return faulty(
      rules.source,
      "NoData",
      "the query returned no sample: check that the series exists and is still scraped",
    );
  if (second !== undefined && rules.reducer === undefined)
    return faulty(
      rules.source,
      "ManySeries",
      `${samples.length} series: add \`sum(…)\` to the query or set reducer`,
      first,
    );
  if (samples.length > MOST_SAMPLES)
    return faulty(rules.source, "ManySeries", `more than ${MOST_SAMPLES} series: aggregate in the query`, first);
  return untimely(samples, rules) ?? valueOf(samples, rules);
}

export function faulty(source: string, fault: MetricFault, message: string, sample?: Sample): MetricReading {
  return { source, value: null, sampledAt: sample === undefined ? null : timeOf(sample), fault, message };
}

/** The fault of a sample that is too old, or too far in the future, so that one of the two clocks must be wrong. */
function untimely(samples: readonly Sample[], { source, maxAge, askedAt }: ReadingRules): MetricReading | undefined {
  const ascending = samples.toSorted((a, b) => a.seconds - b.seconds);
  const [oldest, newest] = [ascending[0], ascending.at(-1)];
  const limit = `${maxAge / 1000} s`;
  if (oldest !== undefined && askedAt - oldest.seconds * 1000 > maxAge) {
    const message = `its sample of ${timeOf(oldest)} is older than ${limit}: check that the series is still written and that the clock of the server is right`;
    return faulty(source, "StaleMetric", message, oldest);
  }
  if (newest !== undefined && newest.seconds * 1000 - askedAt > maxAge) {
    const message = `its sample of ${timeOf(newest)} is more than ${limit} in the future: the clock of the server or of this host is wrong`;
    return faulty(source, "StaleMetric", message, newest);
  }
  return undefined;
}

function valueOf(samples: readonly Sample[], { source, reducer }: ReadingRules): MetricReading {
  const numbers: ExactNumber[] = [];
  for (const sample of samples) {
    const number = exactNumber(sample.value);
    if (number !== undefined) {
      numbers.push(number);
      continue;
    }
    if (NOT_NUMBERS.test(sample.value)) return faulty(source, "NotANumber", notANumber(sample, samples.length), sample);
    return faulty(source, "QueryFailed", `the server returned ${shown(sample.value)} instead of a number`, sample);
  }
  const value = reducer === undefined ? numbers[0]?.text : reduce(reducer, numbers);
  const [first] = samples;
  if (value === undefined || first === undefined)
    return faulty(source, "QueryFailed", `the ${reducer ?? "value"} of the samples is outside the range of a double`);
  const oldest = samples.reduce((least, sample) => (sample.seconds < least.seconds ? sample : least), first);
  return { source, value, sampledAt: timeOf(oldest), fault: null, message: null };
}

function notANumber({ value }: Sample, count: number): string {
  const which = count === 1 ? "the value is" : `one of ${count} values is`;
  return `${which} ${value}: check for a division by zero, and for scalar(…) of no or several series`;
}

function timeOf({ seconds }: Sample): string {
  return new Date(seconds * 1000).toISOString();
}

/** A long value is not shown at all: it may be a secret that the server repeats. */
function shown(value: string): string {
  return value.length <= 40 ? JSON.stringify(value) : `a text of ${value.length} characters`;
}
