import { describe, expect, test } from "@jest/globals";
import { GateIndex } from "./gate-index.ts";
import { gateOf, type GroupGate } from "./group-gate.ts";
import { literalValues } from "./literal-pattern.ts";
import type { TargetGroup } from "./target-group.ts";

describe("the texts of a literal pattern", () => {
  test.each([
    ["web", ["web"]],
    ["", [""]],
    ["web|api", ["web", "api"]],
    ["(web);true", ["web;true"]],
    ["(?:web|a(b|c));true", ["web;true", "ab;true", "ac;true"]],
    [String.raw`a\.b\-c`, ["a.b-c"]],
    ["web|", ["web", ""]],
    ["grün", ["grün"]],
  ])("of %j are %j", (pattern, values) => {
    expect([...(literalValues(pattern) ?? [])]).toEqual(values);
  });

  test.each([
    "(.*)",
    "a.b",
    "a+",
    "(a)?",
    "a{2}",
    "[ab]",
    "^a",
    "a$",
    String.raw`\d`,
    String.raw`\pL`,
    "(?i)a",
    "(a",
    "a)",
    "(?P<n>a)",
  ])("of %j are not known", (pattern) => {
    expect(literalValues(pattern)).toBeUndefined();
  });

  test("of many alternatives are not worth knowing", () => {
    expect(literalValues("(a|b|c)(a|b|c)(a|b|c)(a|b|c)(a|b|c)")).toBeUndefined();
  });
});

const keep = { source_labels: ["__meta_a", "__meta_b"], regex: "(x|y);true", action: "keep" };
const gate: GroupGate = { labels: ["__meta_a", "__meta_b"], separator: ";", values: new Set(["x;true", "y;true"]) };

describe("the gate of a job", () => {
  test.each([
    ["keeps literal values", [keep]],
    [
      "keeps them after rules that write other labels",
      [{ source_labels: ["job"], target_label: "__tmp" }, { action: "drop", regex: "a" }, keep],
    ],
    ["writes the action in capitals", [{ ...keep, action: "Keep" }]],
  ])("is known if it %s", (_what, rules) => {
    expect(gateOf(rules)).toEqual(gate);
  });

  test.each([
    ["has no such rule", []],
    ["keeps by a pattern", [{ ...keep, regex: "x.*" }]],
    ["keeps by labels that others seed", [{ ...keep, source_labels: ["job"] }]],
    ["has written the label before", [{ target_label: "__meta_b", replacement: "true" }, keep]],
    ["may have written it", [{ target_label: "__meta_$1" }, keep]],
    ["may have mapped it", [{ action: "labelmap", regex: "(.*)" }, keep]],
    ["may have dropped it", [{ action: "labeldrop", regex: "__meta_.*" }, keep]],
  ])("is open if it %s", (_what, rules) => {
    expect(gateOf(rules)).toBeUndefined();
  });
});

describe("an index of gates", () => {
  const group = (source: string, a: string, ...targets: readonly Readonly<Record<string, string>>[]): TargetGroup => ({
    source,
    labels: new Map([
      ["__meta_a", a],
      ["__meta_b", "true"],
    ]),
    targets: (targets.length === 0 ? [{}] : targets).map((target) => new Map(Object.entries(target))),
  });
  const only = (value: string): GroupGate => ({ ...gate, values: new Set([value]) });

  test("finds the jobs of a group by what it is and was, and those without a gate", () => {
    const index = new GateIndex<string>();
    const groups = new Map([["g", group("g", "x")]]);
    index.add("x", only("x;true"), groups);
    index.add("y", only("y;true"), groups);
    index.add("all", undefined, groups);
    expect([...index.update("g", group("g", "x"))]).toEqual(["all", "x"]);
    expect([...index.update("g", group("g", "y"))]).toEqual(["all", "x", "y"]);
    expect([...index.update("g", undefined)]).toEqual(["all", "y"]);
    expect([...index.update("h", group("h", "z"))]).toEqual(["all"]);
    index.remove("all", undefined);
    expect([...index.update("h", undefined)]).toEqual([]);
  });

  test("finds the groups of a job that comes later, also by labels of single targets", () => {
    const index = new GateIndex<string>();
    const groups = new Map(
      [group("one", "x"), group("two", "y"), group("three", "z", { __meta_a: "x" }, {})].map((each) => [
        each.source,
        each,
      ]),
    );
    index.add("x", only("x;true"), groups);
    index.add("all", undefined, groups);
    expect([...(index.groupsFor("x", only("x;true")) ?? [])]).toEqual(["one", "three"]);
    expect(index.groupsFor("all", undefined)).toBeUndefined();
    index.update("one", undefined);
    expect([...(index.groupsFor("x", only("x;true")) ?? [])]).toEqual(["three"]);
  });
});
