import { FakeClock } from "@evenkeel/runtime/testing";
import type { Counts } from "@evenkeel/state";
import { expect, test } from "@jest/globals";
import { activityIn, countsOf, Reports, type SharedActivity, parseMessage, messageText } from "./activity-reports.ts";

const KEY = "shop/checkout";
const NOTHING: SharedActivity = { pending: 0, inFlight: 0, requests: 0, lastRequestAt: null, requestRate: 0 };

function of(activity: Partial<SharedActivity>): SharedActivity {
  return { ...NOTHING, ...activity };
}

/** Reports with reads that end when the test says so. */
function reading() {
  const asked: PromiseWithResolvers<ReadonlyMap<string, Counts>>[] = [];
  const clock = new FakeClock();
  const reports = new Reports({
    read: () => {
      const one = Promise.withResolvers<ReadonlyMap<string, Counts>>();
      asked.push(one);
      return one.promise;
    },
    clock,
  });
  const answer = (activity: Partial<SharedActivity>) =>
    asked.at(-1)?.resolve(new Map([["b", countsOf(KEY, of(activity))]]));
  const hear = (activity: Partial<SharedActivity>) =>
    reports.receive({ replica: "b", key: KEY, activity: of(activity) });
  const seen = () => activityIn(reports.latest(1000)?.get("b") ?? {}, KEY);
  return { reports, asked, clock, answer, hear, seen };
}

test("a word is read as it was written, and other texts are none", () => {
  const word = {
    replica: "b",
    key: KEY,
    activity: of({ pending: 1, requests: 7, lastRequestAt: 5, requestRate: 0.5 }),
  };
  expect(parseMessage(messageText(word))).toEqual(word);
  expect(parseMessage(messageText({ ...word, activity: NOTHING }))?.activity).toEqual(NOTHING);
  for (const text of ["", "b", `b ${KEY}`, `b ${KEY} 1 2 3`, `b ${KEY} 1 2 3 4 x`, `b ${KEY} 1 2 3 4 5 6`]) {
    expect(parseMessage(text)).toBeUndefined();
  }
});

test("a word counts at once, and during a reading that is older", async () => {
  const { reports, answer, hear, seen } = reading();
  const first = reports.read(0);
  hear({ requests: 1, pending: 1 });
  answer({});
  await first;
  expect(seen()).toMatchObject({ requests: 1, pending: 1 });
  hear({ requests: 2, pending: 2 });
  expect(seen()).toMatchObject({ requests: 2, pending: 2 });
});

test("a word that is older than what was read takes nothing away", async () => {
  const { reports, answer, hear, seen } = reading();
  const first = reports.read(0);
  answer({ requests: 9, inFlight: 1 });
  await first;
  hear({ requests: 8, inFlight: 0 });
  expect(seen()).toMatchObject({ requests: 9, inFlight: 1 });
});

test("a word of one that has left brings it not back", async () => {
  const { reports, answer } = reading();
  const first = reports.read(0);
  reports.receive({ replica: "gone", key: KEY, activity: of({ requests: 1, pending: 1 }) });
  answer({});
  await first;
  reports.receive({ replica: "gone", key: KEY, activity: of({ requests: 1, pending: 1 }) });
  expect([...(reports.latest(1000)?.keys() ?? [])]).toEqual(["b"]);
});

test("fresh reports are not read again, and a read in progress is shared", async () => {
  const { reports, asked, clock, answer } = reading();
  const both = [reports.read(250), reports.read(250)];
  expect(asked).toHaveLength(1);
  answer({});
  await Promise.all(both);
  await clock.advance(250);
  await reports.read(250);
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  void reports.read(250);
  expect(asked).toHaveLength(2);
});

test("after a reading that failed nothing is known", async () => {
  const { reports, asked, answer } = reading();
  const first = reports.read(0);
  answer({});
  await first;
  const second = reports.read(0);
  asked.at(-1)?.reject(new Error("away"));
  await expect(second).rejects.toThrow("away");
  expect(reports.latest(1000)).toBeUndefined();
  expect(reports.age).toBe(Infinity);
});
