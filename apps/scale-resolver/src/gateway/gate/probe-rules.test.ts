import { describe, expect, test } from "@jest/globals";
import type { Exchange } from "@evenkeel/forward";
import type { ProbeRule } from "../../binding.ts";
import { ProbeRules } from "./probe-rules.ts";

const RESPONSE = { status: 200, body: "asleep" };

/** The part of an exchange that rules read. */
function asked(path: string, headers: Record<string, string | readonly string[]> = {}, method = "GET"): Exchange {
  return { path, method, headers: Object.entries(headers).flatMap(pairsOf) } as unknown as Exchange;
}

const pairsOf = ([name, values]: [string, string | readonly string[]]) =>
  [values].flat().flatMap((value) => [name, value]);

function answers(rule: Partial<ProbeRule>, exchange: Exchange): boolean {
  const rules = new ProbeRules([{ headers: [], queryParams: [], response: RESPONSE, ...rule }]);
  return rules.answer(exchange) !== undefined;
}

describe("a probe rule", () => {
  test.each([
    ["Exact", "/a", "/a", true],
    ["Exact", "/a", "/a/", false],
    ["Exact", "/a", "/a?b=c", true],
    ["PathPrefix", "/a", "/a", true],
    ["PathPrefix", "/a", "/a/", true],
    ["PathPrefix", "/a/", "/a", true],
    ["PathPrefix", "/a", "/a/b?c", true],
    ["PathPrefix", "/a", "/ab", false],
    ["PathPrefix", "/", "/anything", true],
    ["RegularExpression", "/a+", "/aaa", true],
    ["RegularExpression", "/a", "/aa", true],
    ["RegularExpression", "^/a$", "/aa", false],
    ["RegularExpression", "/b", "/a/b", true],
    ["RegularExpression", "/b", "/a?c=/b", false],
  ] as const)("with path %s %j takes %j: %j", (type, value, path, expected) => {
    expect(answers({ path: { type, value } }, asked(path))).toBe(expected);
  });

  test("finds headers by their name in any case, and values in theirs", () => {
    const headers = [{ name: "User-Agent", type: "RegularExpression", value: "kube-probe/.*" }] as const;
    expect(answers({ headers }, asked("/", { "User-Agent": "kube-probe/1.36" }))).toBe(true);
    expect(answers({ headers }, asked("/", { "user-agent": "Kube-Probe/1.36" }))).toBe(false);
    expect(answers({ headers }, asked("/"))).toBe(false);
  });

  test("looks for an expression anywhere in a header, as the original does", () => {
    const headers = [{ name: "User-Agent", type: "RegularExpression", value: "kube-probe|GoogleHC" }] as const;
    expect(answers({ headers }, asked("/", { "user-agent": "GoogleHC/1.0" }))).toBe(true);
    expect(answers({ headers }, asked("/", { "user-agent": "curl/8.0" }))).toBe(false);
  });

  test("takes any of several values of a header", () => {
    const headers = [{ name: "x-check", type: "Exact", value: "1" }] as const;
    expect(answers({ headers }, asked("/", { "x-check": ["0", "1"] }))).toBe(true);
    expect(answers({ headers }, asked("/", { "x-check": ["0", "2"] }))).toBe(false);
  });

  test("takes any of several values of a query parameter", () => {
    const queryParams = [{ name: "probe", type: "Exact", value: "1" }] as const;
    expect(answers({ queryParams }, asked("/?probe=1&probe=2"))).toBe(true);
    expect(answers({ queryParams }, asked("/?probe=2&probe=1"))).toBe(true);
    expect(answers({ queryParams }, asked("/?a=b&prob%65=1"))).toBe(true);
    expect(answers({ queryParams }, asked("/?probe=2"))).toBe(false);
    expect(answers({ queryParams }, asked("/"))).toBe(false);
  });

  test("matches only if all of its parts do", () => {
    const rule: Partial<ProbeRule> = { method: "HEAD", path: { type: "Exact", value: "/a" } };
    expect(answers(rule, asked("/a", {}, "HEAD"))).toBe(true);
    expect(answers(rule, asked("/a"))).toBe(false);
    expect(answers(rule, asked("/b", {}, "HEAD"))).toBe(false);
  });

  test("with an expression that is refused matches nothing, although its other parts do, and says where and why", () => {
    const rule: ProbeRule = {
      path: { type: "Exact", value: "/a" },
      headers: [
        { name: "x", type: "Exact", value: "aaa" },
        { name: "x", type: "RegularExpression", value: "(?=a)" },
      ],
      queryParams: [],
      response: RESPONSE,
    };
    const rules = new ProbeRules([rule]);
    expect(rules.answer(asked("/a", { x: "aaa" }))).toBeUndefined();
    expect(rules.refused.map(({ message }) => message)).toEqual([
      expect.stringMatching(/probeResponse\[0\]\.headers\[1\].*\(\?=/),
    ]);
  });

  test("applies only if no earlier rule matches", () => {
    const first = { headers: [], queryParams: [], response: { status: 204, body: "" } };
    const rules = new ProbeRules([first, { ...first, response: RESPONSE }]);
    expect(rules.answer(asked("/"))).toEqual({ refuse: { status: 204, body: "" } });
  });
});
