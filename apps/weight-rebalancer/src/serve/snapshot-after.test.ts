import { expect, test } from "@jest/globals";
import type { WeightTarget } from "../targets/weight-target.ts";
import { nextMemory } from "../decide/memory.ts";
import { weightDecider } from "../decide/weight-decider.ts";
import { measured, NOON, seedSnapshot } from "../testing/seed-snapshot.ts";
import { snapshotAfter } from "./snapshot-after.ts";
import type { ShownOutcome } from "./weight-view.ts";

const target: WeightTarget = {
  name: "route53 Z1/example.com A aws",
  range: { minimum: 0, maximum: 255 },
  read: () => Promise.reject(new Error("nobody reads here")),
  write: () => Promise.reject(new Error("nobody writes here")),
};

/** The reconcile that raises the record from 8 to 16, and the result of its write. */
function reconciled(actual: number, error?: unknown): ShownOutcome {
  const snapshot = seedSnapshot();
  const decision = { ...weightDecider.decide(snapshot), at: NOON, dryRun: false };
  const memory = nextMemory(snapshot, decision, error === undefined ? [] : [target.name]);
  return { snapshot, decision, memory, targets: [{ target, actual, wanted: 16, pending: false, error }] };
}

const whatIf = (shown: ShownOutcome, metric: string) =>
  weightDecider.decide({ ...snapshotAfter(shown), metrics: [measured(metric)] });

test("a what-if starts from the weight that the last reconcile wrote", () => {
  expect(whatIf(reconciled(16), "1500")).toMatchObject({
    action: "lower",
    reason: "TargetTracking",
    before: 16,
    after: 4,
  });
  expect(whatIf(reconciled(16), "3000")).toMatchObject({ action: "hold", reason: "InStep", after: 16 });
});

test("a what-if starts from the weight that is there where the last reconcile could not write", () => {
  expect(whatIf(reconciled(8, new Error("throttled")), "1500")).toMatchObject({ action: "lower", before: 8, after: 4 });
});
