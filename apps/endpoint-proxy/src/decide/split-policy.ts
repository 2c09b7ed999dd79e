/** How replicas are divided: by score, equally, one cluster after the other, or each cluster the whole number. */
export type Divide = (typeof DIVIDE)[number];

const DIVIDE = ["weighted", "even", "overflow", "all"] as const;

/** What the annotations of a workload say. Without any, replicas are divided by score over all clusters. */
export interface SplitPolicy {
  readonly divide: Divide;
  /** Only these, in this order. Null: all. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  /** In place of the scores. A cluster that is not named gets nothing new. Null: by score. */
  readonly weights: Readonly<Record<string, number>> | null;
  readonly minimum: Readonly<Record<string, number>>;
}

const CLUSTERS = "evenkeel.io/clusters";
const DIVIDE_BY = "evenkeel.io/divide";
const CLUSTER_WEIGHTS = "evenkeel.io/cluster-weights";
const CLUSTER_MINIMUM = "evenkeel.io/cluster-minimum";
export const POLICY_ANNOTATIONS = [CLUSTERS, DIVIDE_BY, CLUSTER_WEIGHTS, CLUSTER_MINIMUM] as const;

/** An annotation that cannot be used. */
export interface PolicyFault {
  readonly annotation: string;
  readonly value: string;
  readonly expected: string;
}

export const NO_POLICY: SplitPolicy = { divide: "weighted", include: null, exclude: [], weights: null, minimum: {} };

/** The policy of these annotations, or everything that is wrong with them. */
export function policyOf(
  annotations: Readonly<Record<string, string>>,
): { readonly policy: SplitPolicy } | { readonly faults: readonly PolicyFault[] } {
  const faults: PolicyFault[] = [];
  const read = <T>(annotation: string, absent: T, expected: string, parse: (value: string) => T | undefined): T => {
    const value = Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined;
    if (value === undefined) return absent;
    const parsed = parse(value);
    if (parsed === undefined) faults.push({ annotation, value, expected });
    return parsed ?? absent;
  };
  const clusters = read(CLUSTERS, { include: null, exclude: [] }, "names such as a,b or !c", clustersOf);
  const policy: SplitPolicy = {
    ...clusters,
    divide: read<Divide>(DIVIDE_BY, "weighted", DIVIDE.join(", "), (value) => DIVIDE.find((one) => one === value)),
    weights: read<Record<string, number> | null>(CLUSTER_WEIGHTS, null, "numbers such as a=3,b=1", (value) =>
      numbersOf(value, /^\d+(\.\d+)?$/),
    ),
    minimum: read<Record<string, number>>(CLUSTER_MINIMUM, {}, "whole numbers such as a=2", (value) =>
      numbersOf(value, /^\d+$/),
    ),
  };
  return faults.length === 0 ? { policy } : { faults };
}

function clustersOf(value: string): Pick<SplitPolicy, "include" | "exclude"> | undefined {
  const names = wordsOf(value);
  if (names.length === 0 || names.some((name) => !/^!?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))) return undefined;
  const exclude = names.filter((name) => name.startsWith("!")).map((name) => name.slice(1));
  const include = names.filter((name) => !name.startsWith("!"));
  return { include: include.length === 0 ? null : include, exclude };
}

function numbersOf(value: string, form: RegExp): Record<string, number> | undefined {
  const pairs = wordsOf(value).map((word) => word.split("="));
  const isPair = ([name = "", number = "", ...rest]: readonly string[]): boolean =>
    name !== "" && rest.length === 0 && form.test(number);
  if (pairs.length === 0 || !pairs.every(isPair)) return undefined;
  const numbers = Object.fromEntries(pairs.map(([name = "", number]) => [name, Number(number)]));
  return Object.values(numbers).every((number) => number <= 1_000_000) ? numbers : undefined;
}

function wordsOf(value: string): readonly string[] {
  return value
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
