import type { ResourceType } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { Standby } from "./standby.ts";

const never = new AbortController().signal;

/** A cluster that answers in order whether it has Cilium, or does not answer. The last answer stays. */
function setUp(answers: (boolean | "fails")[], standby?: boolean) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const serves = ({ group, plural }: ResourceType) => {
    asked.push(`${group}/${plural}`);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer === "fails" ? Promise.reject(new Error("reset")) : Promise.resolve(answer === true);
  };
  return { standby: new Standby({ kube: { serves }, clock, standby }), clock, asked };
}

test.each([
  ["is possible in a cluster without Cilium", false, true],
  ["is not where Cilium may be in place of kube-proxy", true, false],
])("standing by %s", async (_name, hasCilium, expected) => {
  const { standby, asked } = setUp([hasCilium]);
  expect(await standby.isPossible(never)).toBe(expected);
  expect(await standby.isPossible(never)).toBe(expected);
  expect(asked).toEqual(["cilium.io/ciliumnodes"]);
});

test.each([true, false])("standing by is as --standby says, whatever the cluster has: %s", async (setting) => {
  const { standby, asked } = setUp([setting], setting);
  expect(await standby.isPossible(never)).toBe(setting);
  expect(asked).toEqual([]);
});

test("standing by is not possible until the cluster has answered, and stays what it was if it does not later", async () => {
  const { standby, clock } = setUp(["fails", false, "fails", true]);
  expect(await standby.isPossible(never)).toBe(false);
  await clock.advance(5000);
  expect(await standby.isPossible(never)).toBe(true);
  await clock.advance(600_000);
  expect(await standby.isPossible(never)).toBe(true);
  await clock.advance(5000);
  expect(await standby.isPossible(never)).toBe(false);
});
