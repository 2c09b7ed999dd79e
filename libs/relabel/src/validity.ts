import { parseDuration } from "./duration.ts";
import type { LabelView } from "./label-view.ts";
import { memo } from "./memo.ts";
import { NameOrder } from "./name-order.ts";
import type { Outcome, TargetFault } from "./relabelling.ts";

const histogramFlags = [
  "__convert_classic_histograms_to_nhcb__",
  "__always_scrape_classic_histograms__",
  "__scrape_native_histograms__",
];

/** What Go reads as a boolean. */
const booleans = new Set(["1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"]);

/** Decides about targets that all rules kept. It remembers what the targets of a job have in common. */
export class Validity {
  readonly #duration = memo(1000, (text) => parseDuration(text) ?? 0n);
  readonly #order = new NameOrder(10_000);
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  /** The final labels, or the first reason for which the target cannot be scraped. */
  outcome(view: LabelView): Outcome {
    const address = view.get("__address__");
    if (address === "") return invalid("NoAddress", "The target has no __address__ after relabelling");
    if (address.includes("/")) {
      return invalid("BadAddress", `__address__ "${address}" is not host:port: it contains a "/"`);
    }
    const fault = this.#timing(view.get("__scrape_interval__"), view.get("__scrape_timeout__"));
    if (fault !== undefined) return fault;
    for (const name of histogramFlags) {
      const value = view.get(name);
      if (value !== "" && !booleans.has(value)) {
        return invalid("BadHistogramFlag", `${name} "${value}" is not true or false`);
      }
    }
    return this.#kept(view, address);
  }

  #timing(intervalText: string, timeoutText: string): Outcome | undefined {
    const interval = this.#duration(intervalText);
    if (interval === 0n) {
      return invalid("BadInterval", `__scrape_interval__ "${intervalText}" is not a duration above 0`);
    }
    const timeout = this.#duration(timeoutText);
    if (timeout === 0n) {
      return invalid("BadTimeout", `__scrape_timeout__ "${timeoutText}" is not a duration above 0`);
    }
    if (timeout <= interval) return undefined;
    return invalid("TimeoutAboveInterval", `The timeout ${timeoutText} is longer than the interval ${intervalText}`);
  }

  #kept(view: LabelView, address: string): Outcome {
    const names = this.#names;
    const values = this.#values;
    names.length = 0;
    values.length = 0;
    view.eachFinal((name, value) => {
      names.push(name);
      values.push(value);
    });
    if (view.get("instance") === "") {
      names.push("instance");
      values.push(address);
    }
    const labels = new Map<string, string>();
    for (const index of this.#order.of(names)) {
      const name = names[index] ?? "";
      const value = values[index] ?? "";
      if (!value.isWellFormed()) {
        return invalid("BadLabelValue", `The value of label "${name}" is not valid UTF-8`);
      }
      labels.set(name, value);
    }
    return { kind: "kept", labels };
  }
}

function invalid(fault: TargetFault, message: string): Outcome {
  return { kind: "invalid", fault, message };
}
