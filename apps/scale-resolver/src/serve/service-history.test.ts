import { expect, test } from "@jest/globals";
import { ServiceHistory } from "./service-history.ts";

const limits = { changes: 3, wakes: 2, points: 4 };
const wake = (startedAt: number) => ({ startedAt, scaleMs: null, startMs: null, connectMs: null, held: 1 });
const point = (at: number, pending: number | null = 0) => ({ at, pending, inFlight: 0, replicas: 1 });

test("a state that the service is in already is no change", () => {
  const history = new ServiceHistory();
  history.moved({ at: 1, state: "Serve", reason: "", message: "" });
  history.moved({ at: 5, state: "Serve", reason: "Busy", message: "There is traffic" });
  history.moved({ at: 9, state: "Guard", reason: "Idle", message: "Nobody asks" });
  expect(history.changes).toEqual([
    { at: 1, state: "Serve", reason: "", message: "" },
    { at: 9, state: "Guard", reason: "Idle", message: "Nobody asks" },
  ]);
});

test("the newest changes, wakes and points are kept", () => {
  const history = new ServiceHistory(limits);
  for (let at = 1; at <= 9; at++) {
    history.moved({ at, state: at % 2 ? "Serve" : "Guard", reason: "Idle", message: "" });
    history.woken(wake(at));
    history.counted(point(at, at));
  }
  expect(history.changes.map(({ at }) => at)).toEqual([7, 8, 9]);
  expect(history.wakes.map(({ startedAt }) => startedAt)).toEqual([8, 9]);
  expect(history.points.map(({ at }) => at)).toEqual([6, 7, 8, 9]);
});

test("a wake is one entry for any number of updates", () => {
  const history = new ServiceHistory();
  history.woken(wake(1));
  history.woken({ ...wake(1), scaleMs: 8, held: 70 });
  history.woken(wake(2));
  history.woken({ ...wake(1), scaleMs: 8, startMs: 2000, connectMs: 30, held: 90 });
  expect(history.wakes).toEqual([{ startedAt: 1, scaleMs: 8, startMs: 2000, connectMs: 30, held: 90 }, wake(2)]);
});

test("while nothing changes the last point moves on, and unknown is not zero", () => {
  const history = new ServiceHistory();
  expect(history.counted(point(1))).toBe(true);
  expect(history.counted(point(2))).toBe(false);
  expect(history.counted(point(3))).toBe(false);
  expect(history.counted(point(4, null))).toBe(true);
  expect(history.points).toEqual([point(1), point(3), point(4, null)]);
});
