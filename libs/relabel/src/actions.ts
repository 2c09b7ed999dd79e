import { hashModulo } from "./hash-modulo.ts";
import { isLabelName, type NameScheme } from "./label-names.ts";
import { checkLength } from "./label-length.ts";
import type { LabelView, Origin } from "./label-view.ts";
import { compareNames, type Labels } from "./labels.ts";
import { lowerCase, upperCase } from "./letter-case.ts";
import { memo } from "./memo.ts";
import type { Pattern } from "./pattern.ts";
import type { CheckedRule } from "./rule-check.ts";
import { expand } from "./template.ts";

/** How many label names a rule remembers. All targets of a job have the same names, more or less. */
const rememberedNames = 10_000;

/** Applies one rule. False if it drops the target. Throws `LabelsTooLong`. */
export type Apply = (labels: LabelView) => boolean;

export function compileRule(rule: CheckedRule, scheme: NameScheme): Apply {
  const { pattern, targetLabel } = rule;
  const joined = joinedSources(rule);
  switch (rule.action) {
    case "keep":
      return judging(rule, (value) => pattern.groups(value) !== undefined);
    case "drop":
      return judging(rule, (value) => pattern.groups(value) === undefined);
    case "keepequal":
      return (labels) => labels.get(targetLabel) === joined(labels);
    case "dropequal":
      return (labels) => labels.get(targetLabel) !== joined(labels);
    case "replace":
      return replace(rule, scheme, joined);
    case "lowercase":
      return setting(targetLabel, (labels) => lowerCase(joined(labels)));
    case "uppercase":
      return setting(targetLabel, (labels) => upperCase(joined(labels)));
    case "hashmod":
      return setting(targetLabel, (labels) => hashModulo(joined(labels), rule.modulus));
    case "labelmap":
      return labelMap(rule);
    case "labeldrop":
      return removing(true, pattern);
    case "labelkeep":
      return removing(false, pattern);
  }
}

function joinedSources({ sourceLabels, separator }: CheckedRule): (labels: LabelView) => string {
  const [only, ...others] = sourceLabels;
  if (only === undefined) return () => "";
  if (others.length === 0) return (labels) => labels.get(only);
  return (labels) => {
    let value = labels.get(only);
    for (const name of others) {
      value += separator + labels.get(name);
      checkLength(value);
    }
    return value;
  };
}

/**
 * Keeps the targets of which `isKept` approves. What depends on the group alone is decided once for all its targets.
 */
function judging(rule: CheckedRule, isKept: (value: string) => boolean): Apply {
  const joined = joinedSources(rule);
  let group: Labels | undefined;
  let keepsGroup = false;
  return (labels) => {
    if (!labels.isOfGroup(rule.sourceLabels)) return isKept(joined(labels));
    if (labels.group !== group) {
      keepsGroup = isKept(joined(labels));
      group = labels.group;
    }
    return keepsGroup;
  };
}

function setting(name: string, value: (labels: LabelView) => string): Apply {
  return (labels) => {
    labels.set(name, value(labels));
    return true;
  };
}

function replace(rule: CheckedRule, scheme: NameScheme, joined: (labels: LabelView) => string): Apply {
  const { pattern } = rule;
  const target = pattern.template(rule.targetLabel);
  const replacement = pattern.template(rule.replacement);
  return (labels) => {
    const groups = pattern.groups(joined(labels));
    if (groups === undefined) return true;
    const name = expand(target, groups);
    if (isLabelName(name, scheme)) labels.set(name, expand(replacement, groups));
    return true;
  };
}

/**
 * Copies labels to other names. Prometheus copies in the order of visits, so that the last of several labels with the
 * same new name wins; among labels of the same origin its order is random. Here the last by name wins, so that every
 * replica agrees.
 */
function labelMap({ pattern, replacement }: CheckedRule): Apply {
  const template = pattern.template(replacement);
  const renamed = memo(rememberedNames, (name) => pattern.replaceAll(name, template) ?? null);
  return (labels) => {
    const copies = new Map<string, Copy>();
    labels.each((from, value, origin) => {
      const to = renamed(from);
      if (to === null) return;
      const earlier = copies.get(to);
      const unordered = origin === "target" || origin === "group";
      if (unordered && earlier?.origin === origin && compareNames(earlier.from, from) > 0) return;
      copies.set(to, { from, value, origin });
    });
    for (const [to, { value }] of copies) labels.set(to, value);
    return true;
  };
}

interface Copy {
  readonly from: string;
  readonly value: string;
  readonly origin: Origin;
}

function removing(matching: boolean, pattern: Pattern): Apply {
  const isRemoved = memo(rememberedNames, (name) => (pattern.groups(name) !== undefined) === matching);
  return (labels) => {
    const removed: string[] = [];
    labels.each((name) => {
      if (isRemoved(name)) removed.push(name);
    });
    for (const name of removed) labels.set(name, "");
    return true;
  };
}
