import type { RangeAnswer, Sample } from "@evenkeel/prometheus";
import type { MetricReading } from "../decide/snapshot.ts";
import { type ReadingRules, readingOf } from "../observe/prometheus/reading.ts";

/** Times at equal steps, both ends included, in milliseconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** Asks a server for a span. Rejects if there is no answer. */
export type AskRange = (span: Span) => Promise<Extract<RangeAnswer, { kind: "series" }>>;

/** Steps of one request. Prometheus accepts 11,000 in an answer; fewer keep answers with many series small. */
const PART = 2_000;

/** Parts that are requested at once. */
const AT_ONCE = 4;

/** The times of a span. They are multiples of the step, because reconciles of equal intervals start together. */
export function timesOf({ start, end, step }: Span): readonly number[] {
  const first = Math.ceil(start / step);
  const count = Math.max(0, Math.floor(end / step) - first + 1);
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

/**
 * What a source would have read at each of the times. A gap is a reading without a value, as it would have been then.
 */
export async function readHistory(
  times: readonly number[],
  step: number,
  rules: Pick<ReadingRules, "source" | "reducer">,
  ask: AskRange,
): Promise<readonly MetricReading[]> {
  const parts: (readonly number[])[] = [];
  for (let from = 0; from < times.length; from += PART) parts.push(times.slice(from, from + PART));
  const readings = new Map<(typeof parts)[number], readonly MetricReading[]>();
  const waiting = [...parts];
  const work = async () => {
    for (let part = waiting.shift(); part; part = waiting.shift()) {
      const { series } = await ask({ start: part[0] ?? 0, end: part.at(-1) ?? 0, step });
      const samples = samplesAt(series.flat());
      readings.set(
        part,
        part.map((at) => {
          const answer = {
            kind: "samples",
            resultType: "vector",
            samples: samples.get(at) ?? [],
            warnings: [],
          } as const;
          return readingOf(answer, { ...rules, maxAge: step, askedAt: at });
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return parts.flatMap((part) => readings.get(part) ?? []);
}

function samplesAt(samples: readonly Sample[]): ReadonlyMap<number, readonly Sample[]> {
  const found = new Map<number, Sample[]>();
  for (const sample of samples) {
    const at = Math.round(sample.seconds * 1000);
    const others = found.get(at);
    if (others) others.push(sample);
    else found.set(at, [sample]);
  }
  return found;
}
