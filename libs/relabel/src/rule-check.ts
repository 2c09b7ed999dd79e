import { isLabelName, type NameScheme } from "./label-names.ts";
import { lowerCase } from "./letter-case.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { JobFault, RelabelRule } from "./relabelling.ts";

export const actions = [
  "replace",
  "keep",
  "drop",
  "keepequal",
  "dropequal",
  "hashmod",
  "labelmap",
  "labeldrop",
  "labelkeep",
  "lowercase",
  "uppercase",
] as const;

export type Action = (typeof actions)[number];

/** A rule with its defaults filled in, which Prometheus accepts. */
export interface CheckedRule {
  readonly action: Action;
  readonly sourceLabels: readonly string[];
  readonly separator: string;
  readonly pattern: Pattern;
  readonly modulus: bigint;
  readonly targetLabel: string;
  readonly replacement: string;
}

const defaults = { separator: ";", regex: "(.*)", replacement: "$1" };
const largestModulus = 2n ** 64n - 1n;

/** Names with references to groups that the legacy scheme accepts. */
const legacyTemplate = /^(?:[A-Za-z_]|\$(?:\{\w+\}|\w))(?:\w|\$(?:\{\w+\}|\w))*$/;

const withTarget: ReadonlySet<Action> = new Set([
  "replace",
  "hashmod",
  "lowercase",
  "uppercase",
  "keepequal",
  "dropequal",
]);

/** The rule with its defaults, or everything that Prometheus would refuse about it. */
export function checkRule(rule: RelabelRule, scheme: NameScheme, path: string): CheckedRule | JobFault[] {
  const faults: JobFault[] = [];
  const fault = (field: keyof RelabelRule, message: string): void => {
    faults.push({ field: `${path}.${field}`, message });
  };

  const action = actions.find((name) => name === lowerCase(rule.action ?? "replace"));
  if (action === undefined) {
    return [{ field: `${path}.action`, message: `Unknown action "${rule.action}": use one of ${actions.join(", ")}` }];
  }
  const checked = {
    action,
    sourceLabels: rule.source_labels ?? [],
    separator: rule.separator ?? defaults.separator,
    pattern: patternOf(rule, fault),
    modulus: modulusOf(rule, fault),
    targetLabel: rule.target_label ?? "",
    replacement: rule.replacement ?? defaults.replacement,
  };

  for (const name of checked.sourceLabels) {
    if (!isLabelName(name, "utf8")) fault("source_labels", `"${name}" is no label name`);
  }
  if (action === "hashmod" && checked.modulus === 0n) fault("modulus", "Action hashmod needs a modulus above 0");
  if (withTarget.has(action)) checkTarget(checked, scheme, fault);
  if (action === "labelmap" && !isNameTemplate(checked.replacement, scheme)) {
    fault("replacement", `"${checked.replacement}" is no label name`);
  }
  for (const field of unusedFields(rule, checked)) fault(field, `Action ${action} does not take ${field}`);
  return faults.length > 0 || checked.pattern === undefined ? faults : { ...checked, pattern: checked.pattern };
}

type Fault = (field: keyof RelabelRule, message: string) => void;
type Unchecked = Omit<CheckedRule, "pattern">;

function patternOf(rule: RelabelRule, fault: Fault): Pattern | undefined {
  const source = rule.regex ?? defaults.regex;
  if (!source.isWellFormed()) {
    fault("regex", "The regular expression is not valid UTF-8");
    return undefined;
  }
  try {
    return compilePattern(source);
  } catch (error) {
    fault(
      "regex",
      `"${source}" is no RE2 regular expression: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

function modulusOf(rule: RelabelRule, fault: Fault): bigint {
  const given = rule.modulus ?? 0n;
  const modulus = typeof given === "bigint" || Number.isSafeInteger(given) ? BigInt(given) : -1n;
  if (modulus >= 0n && modulus <= largestModulus) return modulus;
  fault("modulus", `${given} is no whole number from 0 to ${largestModulus}`);
  return 1n;
}

function checkTarget({ action, targetLabel }: Unchecked, scheme: NameScheme, fault: Fault): void {
  if (targetLabel === "") {
    fault("target_label", `Action ${action} needs target_label`);
    return;
  }
  const valid =
    action === "replace" && targetLabel.includes("$")
      ? isNameTemplate(targetLabel, scheme)
      : isLabelName(targetLabel, scheme);
  if (!valid) fault("target_label", `"${targetLabel}" is no label name`);
}

function isNameTemplate(text: string, scheme: NameScheme): boolean {
  return scheme === "legacy" ? legacyTemplate.test(text) : isLabelName(text, scheme);
}

/**
 * Fields that Prometheus refuses with this action. It compares most with their defaults, and `regex` with being absent.
 */
function unusedFields(rule: RelabelRule, checked: Unchecked): (keyof RelabelRule)[] {
  const replaced = checked.replacement !== defaults.replacement;
  const unused: (keyof RelabelRule)[] = [];
  switch (checked.action) {
    case "lowercase":
    case "uppercase":
      if (replaced) unused.push("replacement");
      break;
    case "keepequal":
    case "dropequal":
      if (rule.regex !== undefined) unused.push("regex");
      if (checked.modulus !== 0n) unused.push("modulus");
      if (checked.separator !== defaults.separator) unused.push("separator");
      if (replaced) unused.push("replacement");
      break;
    case "labeldrop":
    case "labelkeep":
      if (rule.source_labels !== undefined) unused.push("source_labels");
      if (checked.targetLabel !== "") unused.push("target_label");
      if (checked.modulus !== 0n) unused.push("modulus");
      if (checked.separator !== defaults.separator) unused.push("separator");
      if (replaced) unused.push("replacement");
      break;
    default:
  }
  return unused;
}
