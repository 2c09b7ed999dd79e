/** One value as a server wrote it. */
export interface Sample {
  /** Since the epoch. */
  readonly seconds: number;
  readonly value: string;
  /** The labels of its series; absent where the caller did not ask for them, and of a scalar. */
  readonly labels?: Labels;
}

export type Labels = Readonly<Record<string, string>>;

/** What the body of an answer says, in the form of Prometheus's HTTP API. */
export type QueryAnswer =
  | {
      readonly kind: "samples";
      readonly resultType: "vector" | "scalar";
      readonly samples: readonly Sample[];
      readonly warnings: readonly string[];
    }
  /** An answer to another kind of question. */
  | { readonly kind: "unfit"; readonly resultType: "matrix" | "string" | "histogram" }
  | { readonly kind: "error"; readonly errorType: string; readonly error: string }
  | { readonly kind: "malformed"; readonly why: string };

/** The fault of a query with an answer that is not numeric. */
export function unfitMessage(resultType: Extract<QueryAnswer, { kind: "unfit" }>["resultType"]): string {
  return UNFIT[resultType];
}

const UNFIT = {
  matrix: "the query gives a range of values: wrap it in a function such as rate(…) or avg_over_time(…)",
  string: "the query gives a text and not a number",
  histogram: "the query gives a histogram: take a number of it, such as histogram_sum(…) or histogram_quantile(…)",
} as const;

/** The most warnings that are kept. */
const WARNINGS = 5;

/** Takes a body apart, and keeps the labels of samples if `labelled`. Never throws, whatever the text is. */
export function parseQueryAnswer(text: string, { labelled = false } = {}): QueryAnswer {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { kind: "malformed", why: "it is not JSON" };
  }
  if (!isObject(body)) return { kind: "malformed", why: "it is no JSON object" };
  const { status, data, errorType, error } = body;
  if (status === "error") return { kind: "error", errorType: textOf(errorType), error: textOf(error) };
  if (status !== "success" || !isObject(data)) return { kind: "malformed", why: "it has no status and data" };
  const { resultType, result } = data;
  switch (resultType) {
    case "scalar":
      return samplesOf("scalar", [{ value: result }], body, false);
    case "vector":
      return vectorOf(result, body, labelled);
    case "matrix":
    case "string":
      return { kind: "unfit", resultType };
    default:
      return { kind: "malformed", why: "its resultType is none that Prometheus has" };
  }
}

function vectorOf(result: unknown, body: JsonObject, labelled: boolean): QueryAnswer {
  if (!Array.isArray(result)) return { kind: "malformed", why: "its result is no list" };
  const entries = (result as readonly unknown[]).map((entry) => (isObject(entry) ? entry : {}));
  if (entries.some((entry) => entry["value"] === undefined && entry["histogram"] !== undefined))
    return { kind: "unfit", resultType: "histogram" };
  return samplesOf("vector", entries, body, labelled);
}

function samplesOf(
  resultType: "vector" | "scalar",
  entries: readonly JsonObject[],
  body: JsonObject,
  labelled: boolean,
): QueryAnswer {
  const samples: Sample[] = [];
  for (const { value: pair, metric } of entries) {
    const [seconds, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof seconds !== "number" || typeof value !== "string" || !isTime(seconds))
      return { kind: "malformed", why: "a sample is no pair of a time and a text" };
    samples.push({ seconds, value, ...(labelled && { labels: labelsOf(metric) }) });
  }
  const { warnings } = body;
  const texts = Array.isArray(warnings) ? (warnings as readonly unknown[]).slice(0, WARNINGS).map(textOf) : [];
  return { kind: "samples", resultType, samples, warnings: texts };
}

function labelsOf(metric: unknown): Labels {
  return Object.fromEntries(Object.entries(isObject(metric) ? metric : {}).map(([name, text]) => [name, textOf(text)]));
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTime(seconds: number): boolean {
  return !Number.isNaN(new Date(seconds * 1000).getTime());
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
