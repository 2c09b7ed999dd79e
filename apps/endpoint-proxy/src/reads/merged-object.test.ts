import { expect, test } from "@jest/globals";
import { at, fieldsAt, type Json, numberAt, textAt } from "../bodies/json-text.ts";
import { mergedWorkload } from "./merged-object.ts";

const condition = (type: string, status: string, message = "") => ({
  type,
  status,
  reason: "R",
  message,
});
const workload = (replicas: number, ready: number, more: Record<string, Json> = {}): Json => ({
  metadata: {
    name: "web",
    uid: `u-${replicas}`,
    generation: 3,
    resourceVersion: "5",
  },
  spec: { replicas },
  status: { observedGeneration: 3, replicas, readyReplicas: ready, ...more },
});
const merged = (...objects: Json[]) =>
  mergedWorkload(
    objects.map((object, index) => ({ member: "abc"[index] ?? "", object })),
    { epoch: 1, slots: ["a", "b", "c"] },
  );

test("replicas and counts are added up; the rest is the own cluster's", () => {
  const object = merged(workload(4, 4, { availableReplicas: 4 }), workload(3, 2), workload(0, 0));
  expect(object).toMatchObject({
    metadata: { uid: "u-4", generation: 3 },
    spec: { replicas: 7 },
    status: { replicas: 7, readyReplicas: 6, availableReplicas: 4 },
  });
  expect(at(object, ["status", "unavailableReplicas"])).toBeUndefined();
  expect(JSON.parse(textAt(object, ["metadata", "annotations", "evenkeel.io/placement"]) ?? "")).toEqual({
    a: { replicas: 4, ready: 4 },
    b: { replicas: 3, ready: 2 },
    c: { replicas: 0, ready: 0 },
  });
});

test("observedGeneration is behind until every member has observed", () => {
  const late = workload(3, 3, { observedGeneration: 2 });
  expect(numberAt(merged(workload(1, 1), workload(2, 2)), ["status", "observedGeneration"])).toBe(3);
  expect(numberAt(merged(workload(1, 1), late), ["status", "observedGeneration"])).toBe(2);
});

test.each([
  ["True", "True", "True"],
  ["True", "False", "False"],
  ["Unknown", "False", "False"],
  ["True", "Unknown", "Unknown"],
])("conditions %s and %s are %s", (one, other, expected) => {
  const object = merged(
    workload(1, 1, { conditions: [condition("Available", one, "own")] }),
    workload(1, 1, {
      conditions: [condition("Available", other, "theirs"), condition("ReplicaFailure", "True", "quota")],
    }),
  );
  expect(at(object, ["status", "conditions"])).toMatchObject([
    { type: "Available", status: expected },
    { type: "ReplicaFailure", status: "True", message: "b: quota" },
  ]);
});

test("divide: all shows the number of each cluster, and the least that is ready", () => {
  const whole = (ready: number): Json => {
    const object = workload(3, ready) as Record<string, Json>;
    return {
      ...object,
      metadata: { annotations: { "evenkeel.io/divide": "all" } },
    };
  };
  expect(merged(whole(3), whole(1))).toMatchObject({
    spec: { replicas: 3 },
    status: { readyReplicas: 1 },
  });
});

test("divide: all counts clusters with replicas alone, and shows their greatest number", () => {
  const part = (replicas: number, ready: number): Json => ({
    ...fieldsAt(workload(replicas, ready), []),
    metadata: { annotations: { "evenkeel.io/divide": "all" } },
  });
  expect(merged(part(0, 0), part(5, 4), part(5, 5))).toMatchObject({
    spec: { replicas: 5 },
    status: { replicas: 5, readyReplicas: 4 },
  });
  expect(merged(part(0, 0), part(0, 0))).toMatchObject({ spec: { replicas: 0 }, status: { readyReplicas: 0 } });
});
