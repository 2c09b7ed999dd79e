import { describe, expect, test } from "@jest/globals";
import type { RebalanceStatus } from "@evenkeel/api";
import { findCondition } from "@evenkeel/kube";
import { defineError } from "@evenkeel/runtime";
import { type Memory, NO_MEMORY, type WeightSnapshot } from "../decide/snapshot.ts";
import { SecretElsewhere } from "../observe/errors.ts";
import { seedSnapshot } from "../testing/seed-snapshot.ts";
import type { TargetOutcome } from "./carry-out.ts";
import { statusAfter, statusAfterFailure, statusOfInvalid, withInitialWeights, type Outcome } from "./status.ts";
import type { WeightTarget } from "../targets/weight-target.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const target: WeightTarget = {
  name: "route53 Z1/www.example.com A blue",
  range: { minimum: 0, maximum: 255 },
  read: () => Promise.reject(new Error("nobody reads here")),
  write: () => Promise.reject(new Error("nobody writes here")),
};

const snapshot = seedSnapshot({ rebalance: { namespace: "shop", name: "checkout", generation: 3 } });

const inStep: TargetOutcome = { target, actual: 16, wanted: 16, pending: false, error: undefined };

function reconciled(change: {
  snapshot?: Partial<WeightSnapshot>;
  decision?: Partial<Outcome["decision"]>;
  target?: Partial<TargetOutcome>;
  memory?: Partial<Memory>;
}): Outcome {
  const decision = {
    action: "raise",
    reason: "TargetTracking",
    after: 16,
    message: "16 it is",
    dryRun: false,
  } as const;
  return {
    snapshot: { ...snapshot, ...change.snapshot },
    decision: { ...decision, ...change.decision },
    targets: [{ ...inStep, ...change.target }],
    memory: { ...NO_MEMORY, ...change.memory },
  };
}

const condition = (status: RebalanceStatus, type: string) => findCondition(status.conditions, type);

const Throttled = defineError({
  code: "EK_WEIGHT_ROUTE53_THROTTLED",
  recovery: "retryable",
  message: "too many requests",
  remedy: "Wait.",
});

describe("the status after a reconcile", () => {
  test("that carried its decision out is healthy in every word", () => {
    const status = statusAfter(undefined, reconciled({}), now);
    expect(status).toMatchObject({ condition: "Healty", desiredValue: 16, actualValue: 16 });
    expect(status.lastUpdateAt).toBe("2026-01-01T00:00:00.000Z");
    expect(
      status.conditions?.map(({ type, status, observedGeneration }) => [type, status, observedGeneration]),
    ).toEqual([
      ["Ready", "True", 3],
      ["MetricsAvailable", "True", 3],
      ["TargetSynced", "True", 3],
      ["Throttled", "False", 3],
      ["Paused", "False", 3],
    ]);
  });

  test("that changed nothing is the same object, so that nothing is written", () => {
    const before = statusAfter(undefined, reconciled({}), now);
    expect(statusAfter(before, reconciled({}), now + 60_000)).toBe(before);
  });

  test("leaves what the targets were at first as it is stored", () => {
    const before = { condition: "Unhealthy", initialWeights: [{ target: target.name, weight: 3 }] };
    expect(statusAfter(before, reconciled({}), now)).not.toHaveProperty("initialWeights");
  });

  test("of a dry run shows the desired weight and the actual one", () => {
    const status = statusAfter(undefined, reconciled({ decision: { dryRun: true }, target: { actual: 3 } }), now);
    expect(status).toMatchObject({ condition: "Unhealthy", desiredValue: 16, actualValue: 3 });
    expect(condition(status, "TargetSynced")).toMatchObject({ status: "False", reason: "DryRun" });
    expect(condition(status, "Ready")).toMatchObject({ status: "True" });
  });

  test("without a metric says so, and keeps the weight that stays in force", () => {
    const fault = {
      source: "prometheus",
      value: null,
      sampledAt: null,
      fault: "NoData",
      message: "no sample",
    } as const;
    const decision = { action: "hold", reason: "NoData", after: 16, message: "the weight stays 16" } as const;
    const status = statusAfter(undefined, reconciled({ snapshot: { metrics: [fault] }, decision }), now);
    expect(status).toMatchObject({ condition: "Error", desiredValue: 16, actualValue: 16 });
    expect(condition(status, "MetricsAvailable")).toMatchObject({
      status: "False",
      reason: "NoData",
      message: "prometheus: no sample",
    });
    expect(condition(status, "Ready")).toMatchObject({ status: "False", reason: "NoData" });
  });

  test("with an unknown target has no actual weight, neither the old one nor zero", () => {
    const before = statusAfter(undefined, reconciled({}), now);
    const decision = { action: "hold", reason: "TargetUnknown", after: null, message: "nobody knows" } as const;
    const unknown = { actual: null, wanted: null, error: new Error("connection refused") };
    const status = statusAfter(before, reconciled({ decision, target: unknown }), now);
    expect(status.actualValue).toBeUndefined();
    expect(status).toMatchObject({ condition: "Error", desiredValue: 16 });
    expect(condition(status, "TargetSynced")).toMatchObject({ status: "False", message: "connection refused" });
  });

  test("that Route 53 throttled says so, and that the weight will be written later", () => {
    const status = statusAfter(undefined, reconciled({ target: { actual: 3, error: new Throttled({}) } }), now);
    expect(status.condition).toBe("Error");
    expect(condition(status, "Throttled")).toMatchObject({ status: "True", reason: "Route53Throttled" });
    expect(condition(status, "Ready")).toMatchObject({ status: "False", reason: "Route53Throttled" });
  });

  test("with a Secret that may not be used has that as its reason, without the area of the code", () => {
    const decision = { action: "hold", reason: "TargetUnknown", after: null, message: "nobody knows" } as const;
    const error = new SecretElsewhere({ secret: "vault/aws", namespace: "shop" });
    const status = statusAfter(undefined, reconciled({ decision, target: { actual: null, wanted: null, error } }), now);
    expect(condition(status, "TargetSynced")).toMatchObject({ status: "False", reason: "SecretElsewhere" });
    expect(condition(status, "TargetSynced")?.message).toContain("--allow-cross-namespace-secrets");
  });

  test("with a pending change is neither in step nor out of step", () => {
    const status = statusAfter(undefined, reconciled({ target: { pending: true } }), now);
    expect(condition(status, "TargetSynced")).toMatchObject({ status: "Unknown", reason: "Pending" });
    expect(status.condition).toBe("Healty");
  });

  test("of a pause names its source", () => {
    const blocked = { reason: "Paused", message: "spec.suspend is set" } as const;
    const decision = { action: "hold", reason: "Paused", message: "paused" } as const;
    const status = statusAfter(undefined, reconciled({ snapshot: { blocked }, decision }), now);
    expect(condition(status, "Paused")).toMatchObject({ status: "True", message: "spec.suspend is set" });
    expect(condition(status, "Ready")).toMatchObject({ status: "Unknown", reason: "Paused" });
  });

  test("of an invalid spec names the field, and keeps the last weights", () => {
    const before = statusAfter(undefined, reconciled({}), now);
    const fault = "spec.policy: Required: expected object";
    const status = statusOfInvalid(before, [fault], 4, now);
    expect(status).toMatchObject({ condition: "Error", desiredValue: 16, actualValue: 16 });
    expect(condition(status, "Ready")).toMatchObject({
      status: "False",
      reason: "InvalidSpec",
      message: fault,
      observedGeneration: 4,
    });
  });

  test("that failed keeps the last weights and the other conditions, and is written once", () => {
    const before = statusAfter(undefined, reconciled({}), now);
    const error = new Throttled({});
    const status = statusAfterFailure(before, error, 4, now);
    expect(status).toMatchObject({ condition: "Error", desiredValue: 16, actualValue: 16 });
    expect(condition(status, "Ready")).toMatchObject({
      ...{ status: "False", reason: "Failed", observedGeneration: 4 },
      message: expect.stringContaining("too many requests"),
    });
    expect(condition(status, "TargetSynced")).toEqual(condition(before, "TargetSynced"));
    expect(statusAfterFailure(status, error, 4, now + 60_000)).toBe(status);
  });
});

describe("initial weights", () => {
  const weights = [
    { target: "a", weight: 16 },
    { target: "b", weight: 4 },
  ];

  test("are added for each target that has none", () => {
    expect(withInitialWeights(undefined, weights)?.initialWeights).toEqual(weights);
    const before = { condition: "Healty", actualValue: 10, initialWeights: [{ target: "a", weight: 10 }] };
    expect(withInitialWeights(before, weights)).toEqual({
      ...before,
      initialWeights: [
        { target: "a", weight: 10 },
        { target: "b", weight: 4 },
      ],
    });
  });

  test("that are stored already leave the status the same object", () => {
    const before = { condition: "Healty", initialWeights: [{ target: "a", weight: 10 }] };
    expect(withInitialWeights(before, [{ target: "a", weight: 16 }])).toBe(before);
    expect(withInitialWeights(undefined, [])).toBeUndefined();
  });
});
