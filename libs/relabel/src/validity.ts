import { parseDuration } from "./duration.ts";
import type { LabelView } from "./label-view.ts";
import { sortedLabels } from "./labels.ts";
import type { Outcome, TargetFault } from "./relabelling.ts";

const metaPrefix = "__meta_";

const histogramFlags = [
  "__convert_classic_histograms_to_nhcb__",
  "__always_scrape_classic_histograms__",
  "__scrape_native_histograms__",
];

/** What Go reads as a boolean. */
const booleans = new Set(["1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"]);

/** What becomes of a target that all rules kept: its final labels, or the first reason for which it cannot be scraped. */
export function finish(view: LabelView): Outcome {
  const address = view.get("__address__");
  if (address === "") return invalid("NoAddress", "The target has no __address__ after relabelling");
  if (address.includes("/")) return invalid("BadAddress", `__address__ "${address}" has a "/": it must be host:port`);
  const fault = timing(view.get("__scrape_interval__"), view.get("__scrape_timeout__"));
  if (fault !== undefined) return fault;
  for (const name of histogramFlags) {
    const value = view.get(name);
    if (value !== "" && !booleans.has(value)) return invalid("BadHistogramFlag", `${name} "${value}" is no boolean`);
  }
  return kept(view, address);
}

function timing(intervalText: string, timeoutText: string): Outcome | undefined {
  const interval = parseDuration(intervalText);
  if (interval === undefined || interval === 0n) {
    return invalid("BadInterval", `__scrape_interval__ "${intervalText}" is no duration above 0`);
  }
  const timeout = parseDuration(timeoutText);
  if (timeout === undefined || timeout === 0n) {
    return invalid("BadTimeout", `__scrape_timeout__ "${timeoutText}" is no duration above 0`);
  }
  if (timeout <= interval) return undefined;
  return invalid("TimeoutAboveInterval", `The timeout ${timeoutText} is longer than the interval ${intervalText}`);
}

function kept(view: LabelView, address: string): Outcome {
  const found: [string, string][] = [];
  view.each((name, value) => {
    if (!name.startsWith(metaPrefix)) found.push([name, value]);
  });
  const bad = found.find(([, value]) => !value.isWellFormed());
  if (bad !== undefined) return invalid("BadLabelValue", `The value of label "${bad[0]}" is not valid UTF-8`);
  if (view.get("instance") === "") found.push(["instance", address]);
  return { kind: "kept", labels: sortedLabels(found) };
}

function invalid(fault: TargetFault, message: string): Outcome {
  return { kind: "invalid", fault, message };
}
