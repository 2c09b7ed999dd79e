import { relabelling, type TargetFault } from "../relabelling.ts";
import type { RelabelCase } from "./relabel-cases.ts";

/** What became of a case, in a form in which our answers and Prometheus's are equal. */
export type RelabelAnswer =
  | { readonly labels: Readonly<Record<string, string>> }
  | { readonly dropped: true }
  | { readonly fault: TargetFault }
  /** Prometheus does not load such a job. */
  | { readonly refused: true };

export function ourAnswer({ job, group, target }: RelabelCase): RelabelAnswer {
  const compilation = relabelling(job);
  if (!compilation.ok) return { refused: true };
  const outcome = compilation.relabelling.outcome(group, target);
  switch (outcome.kind) {
    case "kept":
      return { labels: Object.fromEntries(outcome.labels) };
    case "dropped":
      return { dropped: true };
    case "invalid":
      return { fault: outcome.fault };
  }
}

const faultTexts: readonly (readonly [RegExp, TargetFault])[] = [
  [/^no address/, "NoAddress"],
  [/not a valid hostname/, "BadAddress"],
  [/^(?:error parsing )?scrape interval/, "BadInterval"],
  [/^scrape timeout cannot be greater/, "TimeoutAboveInterval"],
  [/^(?:error parsing )?scrape timeout/, "BadTimeout"],
  [/^error parsing .* histograms/, "BadHistogramFlag"],
  [/^invalid label value/, "BadLabelValue"],
];

/** The fault that Prometheus's words are about. */
export function faultOf(text: string): TargetFault {
  const found = faultTexts.find(([words]) => words.test(text));
  if (found === undefined) throw new Error(`Prometheus has a fault that is not known here: ${text}`);
  return found[1];
}
