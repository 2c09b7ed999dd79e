import type { RelabelRule } from "@evenkeel/relabel";
import { literalValues } from "./literal-pattern.ts";

/** The values of some discovered labels, joined, without one of which a job drops a target. */
export interface GroupGate {
  readonly labels: readonly string[];
  readonly separator: string;
  readonly values: ReadonlySet<string>;
}

/** Labels of a gate at most: their values are joined for each group. */
const MOST_LABELS = 16;

/**
 * The first rule of a job that keeps only targets with certain values of meta labels, as most jobs have one. It counts
 * only if no rule before it can have changed those labels.
 */
export function gateOf(rules: readonly RelabelRule[]): GroupGate | undefined {
  const written = new Set<string>();
  for (const rule of rules) {
    const { action = "replace", source_labels: labels = [], separator = ";", target_label: target = "" } = rule;
    switch (action.toLowerCase()) {
      case "keep": {
        const isDiscovered =
          labels.length > 0 &&
          labels.length <= MOST_LABELS &&
          labels.every((name) => name.startsWith("__meta_") && !written.has(name));
        const values = isDiscovered && rule.regex !== undefined ? literalValues(rule.regex) : undefined;
        if (values) return { labels, separator, values };
        break;
      }
      case "drop":
      case "keepequal":
      case "dropequal":
        break;
      case "replace":
      case "hashmod":
      case "lowercase":
      case "uppercase":
        if (target.includes("$")) return undefined;
        written.add(target);
        break;
      default: // it may set or remove any label
        return undefined;
    }
  }
  return undefined;
}
