import { expect, test } from "@jest/globals";
import { type Assignments, type Exception, NO_ASSIGNMENTS } from "../decide/assignments.ts";
import { OwnerHistory } from "./owner-history.ts";

const recorded = (exception: Exception): Assignments => ({
  ...NO_ASSIGNMENTS,
  exceptions: new Map([["app http://a", exception]]),
});

test("remembers who had a target before, the last one first, and each once", () => {
  const history = new OwnerHistory();
  const steps: Assignments[] = [
    recorded({ owner: "b", from: "a", since: 1 }),
    recorded({ owner: "b", from: "a", since: 1, seenAt: 2 }),
    recorded({ owner: "b", since: 1 }),
    recorded({ owner: "c", since: 5, diedAt: 5 }),
  ];
  steps.forEach((after, index) => history.note(steps[index - 1], after));
  expect(history.of("app http://a")).toEqual([
    { name: "b", until: 5 },
    { name: "a", until: 1 },
  ]);
  expect(history.of("app http://other")).toEqual([]);
});

test("forgets the targets that moved longest ago", () => {
  const history = new OwnerHistory();
  const exceptions = Array.from({ length: 10_001 }, (_, index): [string, Exception] => [
    `app http://${index}`,
    { owner: "b", from: "a", since: index },
  ]);
  history.note(undefined, { ...NO_ASSIGNMENTS, exceptions: new Map(exceptions) });
  expect([history.of("app http://0").length, history.of("app http://1").length]).toEqual([0, 1]);
});
