import { parseRebalance } from "@evenkeel/api";
import { describe, expect, test } from "@jest/globals";
import { SEED_POLICY } from "../testing/seed-snapshot.ts";
import { policySnapshot } from "./policy.ts";

/** The policy as it comes out of the schema, defaults and all. */
function policyOf(targettracking: object) {
  const parsed = parseRebalance({
    apiVersion: "rebalancer.ch1aki.github.io/v1",
    kind: "Rebalance",
    metadata: { name: "aws-env", namespace: "default" },
    spec: {
      policy: { targettracking },
      target: {
        route53: { hostedZoneID: "hostedzone/X", resource: { name: "example.com", type: "A", identifier: "aws" } },
      },
      metrics: { prometheus: { address: "http://prometheus:9090", query: "sum(up)" } },
    },
  });
  if (!parsed.ok) throw new Error(parsed.errors.join("; "));
  return policySnapshot(parsed.value.spec);
}

describe("the policy of a Rebalance", () => {
  test("of the original's README has every default", () => {
    expect(policyOf({ targetValue: 1000, baseValue: 8 })).toEqual(SEED_POLICY);
  });

  test("is taken over in every field", () => {
    expect(
      policyOf({
        targetValue: 500,
        baseValue: 10,
        minimum: 2,
        maximum: 200,
        scope: "base",
        tolerance: 0.1,
        disableScaleIn: true,
        smoothing: "2m",
        maxStepUp: 20,
        maxStepDown: 5,
        cooldownUp: "30s",
        cooldownDown: "1h30m",
        settle: "90s",
        onNoData: "value",
        noDataValue: 40,
        scheduled: [
          { startTime: "22:00", endTime: "02:00", value: 30, days: ["Fri", "Sat"] },
          { startTime: "9:00", endTime: "17:00", value: 20 },
        ],
        timeZone: "Asia/Tokyo",
      }),
    ).toEqual({
      targetValue: 500,
      baseValue: 10,
      minimum: 2,
      maximum: 200,
      scope: "base",
      tolerance: 0.1,
      disableScaleIn: true,
      smoothing: 120_000,
      maxStepUp: 20,
      maxStepDown: 5,
      cooldownUp: 30_000,
      cooldownDown: 5_400_000,
      settle: 90_000,
      onNoData: "value",
      noDataValue: 40,
      scheduled: [
        { startTime: "22:00", endTime: "02:00", value: 30, days: ["Fri", "Sat"] },
        { startTime: "9:00", endTime: "17:00", value: 20, days: [] },
      ],
      timeZone: "Asia/Tokyo",
    });
  });

  test("tells a settle of 0 from none", () => {
    expect(policyOf({ targetValue: 1, baseValue: 1, settle: "0s" }).settle).toBe(0);
    expect(policyOf({ targetValue: 1, baseValue: 1 }).settle).toBeNull();
  });
});
