import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compilePattern, LONGEST_PATTERN, LONGEST_VALUE } from "./bounded-pattern.ts";

const matches = (pattern: string, value: string) => {
  const compiled = compilePattern(pattern);
  return "test" in compiled ? compiled.test(value) : compiled.fault;
};

describe("a pattern", () => {
  test.each([
    ["/healthz", "/healthz", true],
    ["/health", "/healthz", false],
    ["/(live|ready|health)z", "/readyz", true],
    ["live|ready", "alive", false],
    ["/api/v[0-9]+/health(/.*)?", "/api/v12/health/deep", true],
    ["kube-probe/.*", "kube-probe/1.31", true],
    ["[(|*+]{2}", "(*", true],
    ["a{3}", "aaa", true],
    ["(?:ab){2}", "abab", true],
    [String.raw`\(\d+\)`, "(42)", true],
    [String.raw`a\|b`, "a|b", true],
    ["", "", true],
  ])("%j matches %j whole: %j", (pattern, value, expected) => {
    expect(matches(pattern, value)).toBe(expected);
  });

  test.each([
    ["(a+)+", "repeats a group"],
    ["(a|aa)*b", "repeats a group"],
    ["(a?){20}a", "repeats a group"],
    ["((a{1,9})b?){1,9}", "repeats a group"],
    [".*.*.*x", "too many"],
    ["(a|a)".repeat(23), "too many"],
    [`${"a?".repeat(23)}b`, "too many"],
    [String.raw`(a)\1`, "back reference"],
    ["(?=a)b", "looks around"],
    ["(?<!a)b", "looks around"],
    ["(?<name>a)", "looks around"],
    ["(?i)a", "looks around"],
    ["a{1,5000}", "1000 times"],
    ["(", "not well formed"],
    ["a)", "not well formed"],
    ["*a", "not well formed"],
    ["[z-a]", "not well formed"],
    ["a".repeat(LONGEST_PATTERN + 1), "longer than"],
  ])("%j is refused", (pattern, fault) => {
    expect(matches(pattern, "")).toContain(fault);
  });

  test("matches no value that is too long to be looked at", () => {
    expect(matches("a*", "a".repeat(LONGEST_VALUE))).toBe(true);
    expect(matches("a*", "a".repeat(LONGEST_VALUE + 1))).toBe(false);
  });

  test("that is not refused never takes long, whatever it is made of", () => {
    const part = fc.constantFrom(
      "a",
      "a*",
      "a+",
      "a?",
      "(a|a)",
      ".*",
      "(",
      ")",
      "|",
      "{2,9}",
      "*",
      "?",
      "(a*)",
      "[ab]",
      "b",
    );
    const value = "a".repeat(LONGEST_VALUE - 1) + "!";
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const compiled = compilePattern(parts.join(""));
        if (!("test" in compiled)) return;
        const began = process.cpuUsage();
        compiled.test(value);
        const { user } = process.cpuUsage(began);
        expect(user / 1000).toBeLessThan(1000);
      }),
      { numRuns: 2000 },
    );
  });
});
