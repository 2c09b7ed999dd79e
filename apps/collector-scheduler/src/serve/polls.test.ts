import { expect, test } from "@jest/globals";
import { Polls } from "./polls.ts";

test("a collector that asks again after its pod has come back was told again, although nothing else has changed", () => {
  const polls = new Polls();
  polls.note("one", "web", 7, 1000);
  polls.note("one", "web", 7, 5000);
  expect(polls.list()).toEqual([{ collector: "one", job: "web", seen: 7, at: 5000 }]);
});

test("an answer by older assignments does not count", () => {
  const polls = new Polls();
  polls.note("one", "web", 7, 1000);
  polls.note("one", "web", 6, 5000);
  expect(polls.list()).toEqual([{ collector: "one", job: "web", seen: 7, at: 1000 }]);
});
