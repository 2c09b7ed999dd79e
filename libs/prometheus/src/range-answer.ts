import { parseQueryAnswer, type QueryAnswer, type Sample } from "./query-answer.ts";

/** One series of an answer to a range query: its samples in the order of time. */
export type Series = readonly Sample[];

/** What the body of an answer to `query_range` says. */
export type RangeAnswer =
  | { readonly kind: "series"; readonly series: readonly Series[] }
  | Extract<QueryAnswer, { kind: "error" | "malformed" }>;

/** Takes a body apart. Never throws, whatever the text is. */
export function parseRangeAnswer(text: string): RangeAnswer {
  const answer = parseQueryAnswer(text);
  if (answer.kind === "error" || answer.kind === "malformed") return answer;
  if (answer.kind !== "unfit" || answer.resultType !== "matrix")
    return { kind: "malformed", why: "its resultType is not matrix" };
  const { data } = JSON.parse(text) as { readonly data: { readonly result?: unknown } };
  if (!Array.isArray(data.result)) return { kind: "malformed", why: "its result is no list" };
  const series = (data.result as readonly unknown[]).map(seriesOf);
  return series.every((one): one is Series => one !== undefined)
    ? { kind: "series", series }
    : { kind: "malformed", why: "a series is no list of pairs of a time and a text" };
}

/** Undefined for what is no series of numbers, such as one of histograms. */
function seriesOf(entry: unknown): Series | undefined {
  const { values } = (entry ?? {}) as { readonly values?: unknown };
  if (!Array.isArray(values)) return undefined;
  const samples: Sample[] = [];
  for (const pair of values as readonly unknown[]) {
    const [seconds, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof seconds !== "number" || typeof value !== "string") return undefined;
    samples.push({ seconds, value });
  }
  return samples;
}
