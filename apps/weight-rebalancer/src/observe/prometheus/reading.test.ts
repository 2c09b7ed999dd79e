import { describe, expect, test } from "@jest/globals";
import type { Sample } from "@evenkeel/prometheus";
import type { MetricFault, MetricReading } from "../../decide/snapshot.ts";
import { readingOf, type ReadingRules } from "./reading.ts";

const ASKED_AT = Date.parse("2026-01-01T00:00:00Z");
const SECONDS = ASKED_AT / 1000;

const rules: ReadingRules = {
  source: "prometheus http://p:9090",
  reducer: undefined,
  maxAge: 300_000,
  askedAt: ASKED_AT,
};

const samplesOf = (values: readonly string[]): Sample[] => values.map((value) => ({ seconds: SECONDS, value }));

const vector = (values: readonly string[], more: Partial<ReadingRules> = {}): MetricReading =>
  readingOf({ kind: "samples", resultType: "vector", samples: samplesOf(values), warnings: [] }, { ...rules, ...more });

const at = (seconds: readonly number[], more: Partial<ReadingRules> = {}): MetricReading =>
  readingOf(
    {
      kind: "samples",
      resultType: "vector",
      samples: seconds.map((one) => ({ seconds: one, value: "1" })),
      warnings: [],
    },
    { ...rules, reducer: "sum", ...more },
  );

describe("an answer of Prometheus", () => {
  test("with one sample is its value, to the last digit as the server wrote it", () => {
    expect(vector(["3000.50"])).toEqual({
      source: "prometheus http://p:9090",
      value: "3000.50",
      sampledAt: "2026-01-01T00:00:00.000Z",
      fault: null,
      message: null,
    });
    expect(vector(["1e+03"]).value).toBe("1e+03");
  });

  test("with several samples and no reducer names how many there are and what to do", () => {
    expect(vector(["1", "2", "3", "4", "5", "6", "7"])).toEqual({
      source: "prometheus http://p:9090",
      value: null,
      sampledAt: "2026-01-01T00:00:00.000Z",
      fault: "ManySeries",
      message: expect.stringMatching(/7.*sum\(.*reducer/),
    });
  });

  test.each([
    ["max", "3.0"],
    ["min", "-1"],
    ["sum", "2.3"],
    ["avg", "0.575"],
  ] as const)("with several samples is their %s: %s", (reducer, value) => {
    expect(vector(["0.1", "3.0", "-1", "0.2"], { reducer }).value).toBe(value);
  });

  test("adds tenths without the error of doubles", () => {
    expect(vector(["0.1", "0.2"], { reducer: "sum" }).value).toBe("0.3");
  });

  test("is no number when the sum is beyond all doubles", () => {
    expect(vector(["1.7e308", "1.7e308"], { reducer: "sum" })).toMatchObject({ value: null, fault: "QueryFailed" });
  });

  test.each<[string, readonly string[], ReadingRules["reducer"], MetricFault]>([
    ["no sample", [], undefined, "NoData"],
    ["no sample for a reducer", [], "sum", "NoData"],
    ["NaN", ["NaN"], undefined, "NotANumber"],
    ["+Inf", ["+Inf"], undefined, "NotANumber"],
    ["-Inf", ["-Inf"], undefined, "NotANumber"],
    ["NaN among numbers that are summed", ["1", "NaN"], "sum", "NotANumber"],
    ["infinity among numbers of which the least is wanted", ["1", "+Inf"], "min", "NotANumber"],
    ["NaN among numbers of which the greatest is wanted", ["NaN", "1"], "max", "NotANumber"],
    ["a word", ["many"], undefined, "QueryFailed"],
    ["an empty text", [""], undefined, "QueryFailed"],
    ["a number in hexadecimal", ["0x10"], undefined, "QueryFailed"],
    ["more digits than any number has", ["9".repeat(100_000)], undefined, "QueryFailed"],
    ["an exponent without end", ["1e999999999"], undefined, "QueryFailed"],
    ["a word among numbers", ["1", "many"], "max", "QueryFailed"],
  ])("with %s is a fault and never a number", (_name, values, reducer, fault) => {
    expect(vector(values, { reducer })).toMatchObject({ value: null, fault });
  });

  test("with more series than a reducer takes is a fault", () => {
    expect(vector(Array<string>(10_001).fill("1"), { reducer: "sum" }).fault).toBe("ManySeries");
    expect(vector(Array<string>(10_000).fill("1"), { reducer: "sum" }).value).toBe("10000");
  });

  test("of numbers that are made to be costly is a fault before long", () => {
    const values = Array.from({ length: 10_000 }, (_, index) => `1e${index % 2 === 0 ? 308 : -1000}`);
    expect(vector(values, { reducer: "avg" })).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(vector(values, { reducer: "max" }).value).toBe("1e308");
  });

  test("does not repeat a long text that may be a secret", () => {
    const { message } = vector([`not a number ${"x".repeat(100)}`]);
    expect(message).toContain("113");
    expect(message).not.toContain("xxx");
  });

  test.each<[string, readonly number[], MetricFault | null]>([
    ["of this moment", [SECONDS], null],
    ["at the limit of age", [SECONDS - 300], null],
    ["beyond it", [SECONDS - 300.001], "StaleMetric"],
    ["of which one is beyond it", [SECONDS, SECONDS - 301], "StaleMetric"],
    ["from a clock that is slightly ahead", [SECONDS + 300], null],
    ["from the future", [SECONDS + 301], "StaleMetric"],
    ["of which one is from the future", [SECONDS + 301, SECONDS], "StaleMetric"],
  ])("with samples %s has the fault %p", (_name, seconds, fault) => {
    expect(at(seconds).fault).toBe(fault);
  });

  test("from the future speaks of clocks, and one from the past of the series", () => {
    expect(at([SECONDS + 3600]).message).toMatch(/2026-01-01T01:00:00.000Z.*300 s.*clock/);
    expect(at([SECONDS - 3600]).message).toMatch(/2025-12-31T23:00:00.000Z.*300 s.*series/);
  });

  test("is as old as its oldest sample", () => {
    expect(at([SECONDS, SECONDS - 60]).sampledAt).toBe("2025-12-31T23:59:00.000Z");
  });

  test.each(["matrix", "string", "histogram"] as const)(
    "of type %s says that the query is another one",
    (resultType) => {
      expect(readingOf({ kind: "unfit", resultType }, rules)).toMatchObject({ value: null, fault: "QueryFailed" });
    },
  );
});
