import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compilePattern, LARGEST_PROGRAM, LONGEST_PATTERN, LONGEST_VALUE } from "./pattern.ts";

const finds = (pattern: string, value: string) => {
  const compiled = compilePattern(pattern);
  return "test" in compiled ? compiled.test(value) : compiled.fault;
};

describe("a pattern", () => {
  test.each([
    ["/healthz", "/healthz", true],
    ["/health", "/healthz", true],
    ["^/health$", "/healthz", false],
    ["kube-probe|GoogleHC", "GoogleHC/1.0", true],
    ["kube-probe|GoogleHC", "ELB-HealthChecker/2.0", false],
    ["live|ready", "alive", true],
    ["^(live|ready)", "alive", false],
    ["(?i)googlehc", "GoogleHC/1.0", true],
    ["(?i)^[a-z]+$", "GoogleHC", true],
    ["googlehc", "GoogleHC/1.0", false],
    ["/(live|ready|health)z", "/readyz", true],
    ["/api/v[0-9]+/health(/.*)?$", "/api/v12/health/deep", true],
    ["^/(v[0-9]+/)*health$", "/v1/v2/health", true],
    ["kube-probe/.*", "kube-probe/1.31", true],
    ["^[(|*+]{2}$", "(*", true],
    ["^a{3}$", "aaa", true],
    ["^a{3}$", "aaaa", false],
    ["^a{2,}$", "aaaa", true],
    ["^a{0,2}b{1,3}?$", "aabbb", true],
    ["^a{0,2}$", "aaa", false],
    ["^(?:ab){2}$", "abab", true],
    ["^(?P<name>a)(?<other>b)$", "ab", true],
    [String.raw`\(\d+\)`, "(42)", true],
    [String.raw`a\|b`, "a|b", true],
    [String.raw`a\-b\_c`, "a-b_c", true],
    [String.raw`^[\w.\-\_]+$`, "a-b_c.d", true],
    [String.raw`^[\\_]+$`, "\\_", true],
    [String.raw`\bprobe\b`, "kube-probe/1.36", true],
    [String.raw`\bprobe\b`, "probes", false],
    [String.raw`\Aa\z`, "a", true],
    [String.raw`\p{Lu}`, "é", false],
    [String.raw`\p{Lu}`, "É", true],
    ["^.$", "𝕏", true],
    ["a{,2}]}", "a{,2}]}", true],
    ["", "anything", true],
    ["a||b", "c", true],
    ["(a*)*$", "b", true],
    ["a(?i)b", "aB", true],
    ["(?s)^.$", "\n", true],
    ["^[[:digit:]]+$", "42", true],
    ["^[]a]+$", "a]", true],
  ])("%j is found in %j: %j", (pattern, value, expected) => {
    expect(finds(pattern, value)).toBe(expected);
  });

  test.each([
    [String.raw`(a)\1`, String.raw`\1`],
    ["(?=a)b", "(?="],
    ["(?<!a)b", "(?<!a)b"],
    ["a{1,5000}", "{1,5000}"],
    ["a{5000}", "{5000}"],
    ["(a{40}){40}", "{40}"],
    ["((((a{99}){99}){99}){99}){99}", "{99}"],
    ["(", "("],
    ["a)", "a)"],
    ["*a", "*"],
    ["(|*)", "*"],
    ["a**", "**"],
    ["a{2,1}", "{2,1}"],
    ["[z-a]", "z-a"],
    ["[a", "[a"],
    ["a\\", "backslash"],
    [String.raw`\y`, String.raw`\y`],
    ["a".repeat(LONGEST_PATTERN + 1), String(LONGEST_PATTERN)],
    [String.raw`(?i)(\pL|\d){500}x`, String(LARGEST_PROGRAM)],
    [String.raw`(\b\w|\B.){500}!`, String(LARGEST_PROGRAM)],
    ["[a-z]{300}", String(LARGEST_PROGRAM)],
  ])("%j is refused, and says where", (pattern, fault) => {
    expect(finds(pattern, "")).toContain(fault);
  });

  test("is found in no value that is too long to be looked at", () => {
    expect(finds("a", "a".repeat(LONGEST_VALUE))).toBe(true);
    expect(finds("a", "a".repeat(LONGEST_VALUE + 1))).toBe(false);
  });

  const part = fc.constantFrom(
    ...["a", "a*", "a+", "a?", "(a|a)", ".*", "(", ")", "|", "{2,9}", "{3}", "{2,}", "*", "?", "(a*)", "[ab]", "[^a]"],
    ...["b", "(?:^)", "(?:$)", "(?:\\b)", "(?:\\B)", "\\w"],
  );

  test("is found where JavaScript's own engine finds it", () => {
    const values = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 6 }), {
      minLength: 1,
      maxLength: 4,
    });
    let compared = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 7 }), values, (parts, looked) => {
        const source = parts.join("");
        const compiled = compilePattern(source);
        if (!("test" in compiled)) return;
        // RE2 reads (?), which sets no flag; JavaScript does not.
        if (source.includes("(?)")) return;
        compared += 1;
        const oracle = new RegExp(source, "u");
        for (const value of looked)
          expect([source, value, compiled.test(value)]).toEqual([source, value, oracle.test(value)]);
      }),
      { numRuns: 5000 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  test("that is not refused never takes long, whatever it is made of", () => {
    const value = "a".repeat(LONGEST_VALUE - 1) + "!";
    const patterns = ["^(a+)+$", "(a|aa)*b", "(a?){30}a{60}b", ".*.*.*.*.*x", "(((a*)*)*)*b", "(.{1,9}){1,9}b"];
    const took = (source: string) => {
      const compiled = compilePattern(source);
      if (!("test" in compiled)) return 0;
      const began = process.cpuUsage();
      compiled.test(value);
      return process.cpuUsage(began).user / 1000;
    };
    for (const pattern of patterns) {
      expect(finds(pattern, value)).toBe(false);
      expect(took(pattern)).toBeLessThan(1000);
    }
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => expect(took(parts.join(""))).toBeLessThan(1000)),
      { numRuns: 1000 },
    );
  });
});
