import { expect, test } from "@jest/globals";
import { History, type HistoryPoint } from "./history.ts";

const point = (at: number): HistoryPoint => ({ at, metric: 3000, target: 1000, desired: 16, actual: 8, share: 0.5 });

test("a history gives back its points, the oldest first", () => {
  const history = new History(3);
  for (const at of [1, 2]) history.add(point(at));
  expect(history.points()).toEqual([point(1), point(2)]);
});

test("a history keeps the newest points", () => {
  const history = new History(3);
  for (const at of [1, 2, 3, 4, 5]) history.add(point(at));
  expect(history.points().map(({ at }) => at)).toEqual([3, 4, 5]);
});

test("what is unknown stays unknown, and zero stays zero", () => {
  const history = new History(3);
  const unknown = { at: 1, metric: null, target: 1000, desired: null, actual: null, share: null };
  const zero = { at: 2, metric: 0, target: 1000, desired: 0, actual: 0, share: 0 };
  history.add(unknown);
  history.add(zero);
  expect(history.points()).toEqual([unknown, zero]);
});
