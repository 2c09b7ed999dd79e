import { describe, expect, test } from "@jest/globals";
import { type Eviction, NO_EVICTIONS } from "../decide/evictions.ts";
import { nodeClassStatus, sloStatus, type StoredNodeClass, type StoredSLO } from "./guard-rails.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const MINUTE = 60_000;
const metadata = { namespace: "shop", name: "hour", generation: 3 };

const slo = (spec: object, status?: StoredSLO["status"]): StoredSLO => {
  return { apiVersion: "rebalancer.dev/v1", kind: "WorkloadSLO", metadata, spec, ...(status && { status }) };
};

const eviction = (namespace: string, at: number): Eviction => ({
  ...{ uid: String(at), namespace, pod: "web", owner: "o", workload: "w", from: "a", policy: "default", at, wave: 0 },
  ...{ expected: [], backOff: 0, landed: "b", replacement: "r", lastSeen: at },
});

const record = {
  ...NO_EVICTIONS,
  evictions: [
    eviction("shop", NOW - 61 * MINUTE),
    eviction("shop", NOW - 30 * MINUTE),
    eviction("shop", NOW - MINUTE),
    eviction("other", NOW - MINUTE),
  ],
};
const held = {
  code: "HourlyLimit" as const,
  by: "shop/hour",
  pod: { uid: "", namespace: "shop", name: "web", workload: null },
  node: "a",
};

describe("the status of a WorkloadSLO", () => {
  test("counts the evictions of its namespace in the last hour", () => {
    expect(sloStatus(slo({ maxDisruptionsPerHour: 5 }), { stays: [] }, record, NOW)).toMatchObject({
      ...{ disruptionsInWindow: 2, windowStart: new Date(NOW - 30 * MINUTE).toISOString() },
      conditions: [
        { type: "Ready", status: "True" },
        { type: "BudgetExhausted", status: "False", reason: "BudgetLeft", observedGeneration: 3 },
      ],
    });
  });

  test("is the same object while nothing changes, so that nothing is written", () => {
    const limited = { maxDisruptionsPerHour: 2 };
    const first = sloStatus(slo(limited), { stays: [held] }, record, NOW);
    expect(first).toMatchObject({ lastViolation: new Date(NOW).toISOString() });
    const stored = slo(limited, first as StoredSLO["status"]);
    expect(sloStatus(stored, { stays: [held] }, record, NOW + 1000)).toBe(stored.status);
  });

  test("notes a refusal anew after a minute, and none of another object", () => {
    const limited = { maxDisruptionsPerHour: 2 };
    const stored = slo(limited, sloStatus(slo(limited), { stays: [held] }, record, NOW) as StoredSLO["status"]);
    const later = sloStatus(stored, { stays: [held] }, record, NOW + MINUTE);
    expect(later).toMatchObject({ lastViolation: new Date(NOW + MINUTE).toISOString() });
    expect(sloStatus(slo(limited), { stays: [{ ...held, by: "shop/other" }] }, record, NOW)).not.toHaveProperty(
      "lastViolation",
    );
  });

  test("says that an object that cannot be read forbids evictions", () => {
    expect(sloStatus(slo({ maxDisruptionsPerHour: "many" }), { stays: [] }, NO_EVICTIONS, NOW)).toMatchObject({
      conditions: [
        { type: "Ready", status: "False", reason: "InvalidSpec" },
        { type: "BudgetExhausted", status: "True" },
      ],
    });
  });
});

describe("the status of a NodeClass", () => {
  const nodeClass = (spec: object, status?: StoredNodeClass["status"]): StoredNodeClass => {
    return {
      apiVersion: "rebalancer.dev/v1",
      kind: "NodeClass",
      metadata: { name: "arm" },
      spec,
      ...(status && { status }),
    };
  };

  test("has the time of the last change, not of the last look", () => {
    const first = nodeClassStatus(nodeClass({}), 2, NOW);
    expect(first).toMatchObject({ nodeCount: 2, lastSync: new Date(NOW).toISOString() });
    const stored = nodeClass({}, first as StoredNodeClass["status"]);
    expect(nodeClassStatus(stored, 2, NOW + MINUTE)).toBe(stored.status);
    expect(nodeClassStatus(stored, 3, NOW + MINUTE)).toMatchObject({ lastSync: new Date(NOW + MINUTE).toISOString() });
  });

  test("says that an object that cannot be read has no effect", () => {
    const { conditions } = nodeClassStatus(nodeClass({ weight: "heavy" }), 0, NOW);
    expect(conditions).toMatchObject([{ type: "Ready", status: "False", reason: "InvalidSpec" }]);
  });
});
