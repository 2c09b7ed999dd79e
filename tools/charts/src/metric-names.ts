/** Functions, keywords and label names of PromQL that look like names of metrics. */
const WORDS = new Set([
  ...[
    "absent",
    "by",
    "changes",
    "count",
    "histogram_quantile",
    "increase",
    "label_values",
    "max",
    "min",
    "min_over_time",
    "rate",
    "sum",
    "time",
    "unless",
  ],
]);

/** Names of the metrics that a query asks for. */
export function metricNames(query: string): readonly string[] {
  const bare = query
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(by|on)\s*\([^)]*\)/g, "");
  const names = bare.match(/[a-z_][a-z0-9_]*/gi) ?? [];
  return names.filter((name) => !WORDS.has(name));
}
