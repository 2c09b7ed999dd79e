import { expect, test } from "@jest/globals";
import { readHistory, type Span, timesOf } from "./history.ts";

const STEP = 60_000;
const rules = { source: "prometheus", reducer: undefined };

test("the times of a span are multiples of the step", () => {
  expect(timesOf({ start: 90_000, end: 300_000, step: STEP })).toEqual([120_000, 180_000, 240_000, 300_000]);
  expect(timesOf({ start: 10, end: 20, step: STEP })).toEqual([]);
});

test("a week is read in parts of at most 2,000 steps, in order and without overlap", async () => {
  const times = timesOf({ start: 0, end: 7 * 86_400_000, step: STEP });
  const asked: Span[] = [];
  const readings = await readHistory(times, STEP, rules, (span) => {
    asked.push(span);
    const samples = timesOf(span).map((at) => ({ seconds: at / 1000, value: String(at) }));
    return Promise.resolve({ kind: "series", series: [samples] });
  });
  expect(readings.map(({ value }) => Number(value))).toEqual(times);
  expect(asked.map((span) => timesOf(span).length)).toEqual([2000, 2000, 2000, 2000, 2000, 81]);
});

test("a gap, several series and a reducer are read as they would have been then", async () => {
  const series = [
    [
      { seconds: 60, value: "1" },
      { seconds: 180, value: "2" },
    ],
    [{ seconds: 180, value: "3" }],
  ];
  const ask = () => Promise.resolve({ kind: "series", series } as const);
  const times = [60_000, 120_000, 180_000];
  const faults = (await readHistory(times, STEP, rules, ask)).map(({ fault }) => fault);
  expect(faults).toEqual([null, "NoData", "ManySeries"]);
  const summed = await readHistory(times, STEP, { ...rules, reducer: "sum" }, ask);
  expect(summed.map(({ value }) => value)).toEqual(["1", null, "5"]);
});
