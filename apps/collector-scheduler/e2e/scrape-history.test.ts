import { expect, test } from "@jest/globals";
import { ScrapeHistory, stallsOf } from "./scrape-history.ts";

const scraped = (...times: readonly number[]) => [
  { job: "app", instance: "a", samples: times.length, scrapes: times.map((at) => ({ at, up: true })) },
];

test("a gap is a pause of all collectors, and an overlap a time of two", () => {
  const history = new ScrapeHistory(
    new Map([
      ["one", scraped(0, 5, 10, 15)],
      ["two", scraped(12, 17, 30)],
    ]),
  );
  expect(history.gaps(6, 31)).toEqual([{ instance: "a", from: 17, milliseconds: 13 }]);
  expect(history.overlaps(10)).toEqual([{ instance: "a", collectors: ["one", "two"], milliseconds: 3 }]);
  expect([...history.ownersSince(15)]).toEqual([["a", ["one", "two"]]]);
});

test("only the time is excused in which a steady collector was late", () => {
  const stalls = stallsOf(scraped(1_000, 6_000, 13_000), 5_000);
  expect(stalls).toEqual([{ from: 11_000, to: 13_000 }]);
  const late = new ScrapeHistory(new Map([["one", scraped(7_000, 14_000)]]), [...stalls, ...stalls]);
  expect(late.gaps(5_500, 14_000)).toEqual([]);
  const missed = new ScrapeHistory(new Map([["one", scraped(7_000, 17_000)]]), stalls);
  expect(missed.gaps(6_000, 17_000)).toEqual([{ instance: "a", from: 7_000, milliseconds: 8_000 }]);
});
