import { type Labels, type Sample, sortedLabels } from "./series.ts";

/** The kinds of error of the API, with the status of each. */
const STATUS = {
  bad_data: 400,
  not_found: 404,
  execution: 422,
  internal: 500,
  timeout: 503,
  unavailable: 503,
} as const;

/** What a query comes to at one time. */
export type QueryAnswer =
  | { readonly kind: "vector"; readonly samples: readonly Sample[] }
  | { readonly kind: "scalar"; readonly value: number }
  | { readonly kind: "error"; readonly errorType: keyof typeof STATUS; readonly error: string };

/** Values over time, in seconds since the epoch. */
export interface Line {
  readonly metric: Labels;
  readonly values: readonly (readonly [seconds: number, value: number])[];
}

/** An error of the API. A status of its own is for what Prometheus would not answer so. */
export class QueryError extends Error {
  readonly status: number;
  readonly errorType: string;

  constructor(errorType: keyof typeof STATUS, message: string, status: number = STATUS[errorType]) {
    super(message);
    this.errorType = errorType;
    this.status = status;
  }

  toJson(): string {
    return JSON.stringify({ status: "error", errorType: this.errorType, error: this.message });
  }
}

/** The body for a vector or scalar, byte for byte as Prometheus writes it. Throws what an error says. */
export function instantJson(answer: QueryAnswer, seconds: number): string {
  switch (answer.kind) {
    case "error":
      throw new QueryError(answer.errorType, answer.error);
    case "scalar":
      return success("scalar", `[${String(seconds)},"${plain(answer.value)}"]`);
    case "vector":
      return success("vector", `[${answer.samples.map((sample) => sampleJson(sample, seconds)).join(",")}]`);
  }
}

/** The body for a matrix. */
export function rangeJson(lines: readonly Line[]): string {
  const written = lines.map(({ metric, values }) => {
    const points = values.map(([seconds, value]) => point(seconds, value)).join(",");
    return `{"metric":${JSON.stringify(sortedLabels(metric))},"values":[${points}]}`;
  });
  return success("matrix", `[${written.join(",")}]`);
}

function success(resultType: string, result: string): string {
  return `{"status":"success","data":{"resultType":"${resultType}","result":${result}}}`;
}

function sampleJson({ metric, value }: Sample, seconds: number): string {
  return `{"metric":${JSON.stringify(sortedLabels(metric))},"value":${point(seconds, value)}}`;
}

function point(seconds: number, value: number): string {
  const time = Number.isInteger(seconds) ? String(seconds) : seconds.toFixed(3);
  return `[${time},"${exponential(value)}"]`;
}

/** Samples of vectors have an exponent of at least two digits where JavaScript has one too. */
function exponential(value: number): string {
  return special(value) ?? String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

/** Scalars never have an exponent. */
function plain(value: number): string {
  const text = special(value) ?? String(value);
  const [, sign = "", whole = "", fraction = "", exponent = ""] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponent === "") return text;
  const shift = Number(exponent);
  return shift > 0
    ? sign + whole + fraction.padEnd(shift, "0")
    : `${sign}0.${"0".repeat(-shift - 1)}${whole}${fraction}`;
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (Object.is(value, -0)) return "-0";
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? "+Inf" : "-Inf";
}
