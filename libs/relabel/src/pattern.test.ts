import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compilePattern, type Pattern, re2Pattern } from "./pattern.ts";
import { plainPattern } from "./plain-pattern.ts";
import { Random } from "./testing/random.ts";
import { randomRegex } from "./testing/random-regex.ts";

describe("a plain pattern", () => {
  const plainSources = [
    "",
    "a",
    "a|b",
    "(a|b)",
    "(?:a|b)c",
    "x(a|)y",
    ".*",
    "(.+)",
    "a(.*)b",
    "a\\.b",
    "a\\|b|c",
    "\\\\|a",
  ];

  test.each(plainSources)("is found in %s", (source) => {
    expect(plainPattern(source)).toBeDefined();
  });

  test.each(["a*", "a+|b", "(a)(b)", "[ab]", "a{2}", ".", ".*.*", ".*?", "(?i)a", "^a", "\\d", "a|.*", "(.*", "((a))"])(
    "is not found in %s",
    (source) => {
      expect(plainPattern(source)).toBeUndefined();
    },
  );

  const piece = fc.constantFrom("a", "b", ";", "\\.", "\\|", "\\\\", "é", "😀", "\n", "");
  const literal = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
  const choices = fc.array(literal, { minLength: 1, maxLength: 3 }).map((texts) => texts.join("|"));
  const core = fc.oneof(
    choices.map((text) => `(${text})`),
    choices.map((text) => `(?:${text})`),
    fc.constantFrom(".*", ".+", "(.*)", "(.+)"),
  );
  const source = fc.oneof(
    choices,
    fc.tuple(literal, core, literal).map((parts) => parts.join("")),
  );
  const value = fc
    .array(fc.constantFrom("a", "b", ";", ".", "|", "\\", "é", "😀", "\n"), { maxLength: 5 })
    .map((parts) => parts.join(""));

  test("has the groups that RE2 has", () => {
    fc.assert(
      fc.property(source, value, (expression, text) => {
        const plain = plainPattern(expression);
        expect(plain).toBeDefined();
        const groups = re2Pattern(expression).groups(text);
        expect(plain?.groups(text)).toEqual(groups && [...groups]);
      }),
      { numRuns: 2000 },
    );
  });

  test("has the groups that RE2 has for any expression that it takes", () => {
    const random = new Random(7);
    let plain = 0;
    for (let round = 0; round < 2000; round++) {
      const expression = randomRegex(random);
      const found = plainPattern(expression);
      if (found === undefined) continue;
      plain++;
      for (const text of ["", "a", "b", "a;b", "a;true", "a.b", "true", "a\nb"]) {
        const groups = re2Pattern(expression).groups(text);
        expect([expression, text, found.groups(text)]).toEqual([expression, text, groups && [...groups]]);
      }
    }
    expect(plain).toBeGreaterThan(100);
  });
});

test.each(["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "(", "a)", "[", "a{1001}", "a**", "\\Qa"])("refuses %s", (source) => {
  expect(() => compilePattern(source)).toThrow();
});

test("matches anywhere where an expression breaks out of its anchors, as in Prometheus", () => {
  const pattern = compilePattern("a)|(b");
  expect(pattern.groups("a-")).toBeDefined();
  expect(pattern.groups("-b")).toBeDefined();
  expect(pattern.groups("-a")).toBeUndefined();
});

test("a dot matches a newline", () => {
  expect(compilePattern("a.b").groups("a\nb")).toBeDefined();
  expect(compilePattern("(.*)").groups("a\nb")?.[1]).toBe("a\nb");
});

describe("time grows linearly with the value", () => {
  test.each(["(a+)+", "(a|a)*b", "(.*)*x", "(a*)*(a*)*b", "(x+x+)+y", "([a-z]+)*\\d"])("for %s", (source) => {
    const pattern = re2Pattern(source);
    // Sixteen times the length takes 256 times as long if time is quadratic, and does not end if it is exponential.
    expect(cpuTime(pattern, 80_000) / cpuTime(pattern, 5000)).toBeLessThan(80);
  });
});

/** Microseconds, the least of some runs. Each value is another, because a pattern remembers values. */
function cpuTime(pattern: Pattern, length: number): number {
  const runs = [1, 2, 3, 4, 5].map((run) => {
    const value = `${"a".repeat(length)}${run}!`;
    const before = process.cpuUsage();
    expect(pattern.groups(value)).toBeUndefined();
    // Which of the two a short time counts as is a matter of chance.
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.max(100, Math.min(...runs));
}
