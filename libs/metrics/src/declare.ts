/**
 * How a label's values are bounded. A label set that grows with its input is a memory leak with a dashboard, so every
 * label says what bounds it:
 * - `closed`: a fixed list. Series exist from the start, at zero. Any other value is counted as `other`.
 * - `object`: the identity of something that comes and goes; its series go when `forget` names it.
 * - `capped`: the first `limit` distinct values; later ones are counted as `other`.
 */
export type Label =
  | { readonly bound: "closed"; readonly values: readonly string[] }
  | { readonly bound: "object" }
  | { readonly bound: "capped"; readonly limit: number };

export type Labels = Readonly<Record<string, Label>>;

/** A label with a fixed list of values. */
export function oneOf<const Value extends string>(...values: readonly Value[]): ClosedLabel<Value> {
  return { bound: "closed", values };
}

/** A label with part of an object's identity, such as its namespace or name. */
export const perObject: Label & { readonly bound: "object" } = { bound: "object" };

/** A label whose values come from outside: the first `limit` are kept, the rest are `other`. */
export function upTo(limit: number): Label & { readonly bound: "capped" } {
  return { bound: "capped", limit };
}

export interface ClosedLabel<Value extends string> {
  readonly bound: "closed";
  readonly values: readonly Value[];
}

/** What a caller passes for a metric's labels: closed labels take their listed values only. */
export type LabelValues<L extends Labels> = {
  readonly [Name in keyof L]: L[Name] extends ClosedLabel<infer Value> ? Value : string;
};

export interface Declaration<
  Type extends "counter" | "gauge" | "histogram" = "counter" | "gauge" | "histogram",
  L extends Labels = Labels,
> {
  readonly type: Type;
  readonly name: string;
  readonly help: string;
  readonly labels: L;
  readonly buckets?: readonly number[];
  readonly leaderOnly?: boolean;
}

export type MetricTable = Readonly<Record<string, Declaration>>;

export interface DeclarationOptions {
  /** The name is the original project's and stays although it breaks the naming rules. */
  readonly inherited?: boolean;
}

export interface GaugeOptions extends DeclarationOptions {
  /** Only the leader sets it. Its series are removed at the end of a term, so that alerts do not fire on old values. */
  readonly leaderOnly?: boolean;
}

/** A count that only grows. Its name ends in `_total`. */
export function counter<const L extends Labels>(
  name: string,
  help: string,
  labels: L,
  options: DeclarationOptions = {},
): Declaration<"counter", L> {
  return checked({ type: "counter", name, help, labels }, options);
}

/**
 * A value that goes up and down. Setting it to a value that is not finite removes the series: unknown is absent, not
 * zero.
 */
export function gauge<const L extends Labels>(
  name: string,
  help: string,
  labels: L,
  options: GaugeOptions = {},
): Declaration<"gauge", L> {
  const { leaderOnly = false } = options;
  return checked({ type: "gauge", name, help, labels, ...(leaderOnly && { leaderOnly }) }, options);
}

/** A distribution. Its name ends in its unit, and `buckets` are upper bounds in that unit, ascending. */
export function histogram<const L extends Labels>(
  name: string,
  help: string,
  labels: L,
  buckets: readonly number[],
  options: DeclarationOptions = {},
): Declaration<"histogram", L> {
  return checked({ type: "histogram", name, help, labels, buckets }, options);
}

const units = ["seconds", "bytes", "ratio", "requests", "replicas", "items"];

/** Misdeclared metrics are a programmer's mistake, so they stop the program at its start. */
function checked<D extends Declaration>(declaration: D, options: DeclarationOptions): D {
  const { type, name, help, labels, buckets } = declaration;
  const fault = (what: string) => new TypeError(`Metric ${name}: ${what}`);
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) throw fault("the name has a character that Prometheus does not take");
  if (help.trim() === "") throw fault("the help text is empty");
  for (const [label, bound] of Object.entries(labels)) {
    if (!/^[a-zA-Z][a-zA-Z0-9_]*$/.test(label) || label === "le") throw fault(`"${label}" cannot be a label`);
    if (bound.bound === "closed" && bound.values.length === 0) throw fault(`label "${label}" has no values`);
  }
  if (buckets?.some((bucket, index) => index > 0 && bucket <= (buckets[index - 1] ?? Infinity))) {
    throw fault("the buckets do not ascend");
  }
  if (options.inherited) return declaration;
  if (name !== name.toLowerCase()) throw fault("the name is not snake_case");
  if ((type === "counter") !== name.endsWith("_total")) throw fault("counters, and only they, end in _total");
  if (type === "histogram" && !units.some((unit) => name.endsWith(`_${unit}`))) {
    throw fault(`a histogram's name ends in its unit: ${units.join(", ")}`);
  }
  return declaration;
}
