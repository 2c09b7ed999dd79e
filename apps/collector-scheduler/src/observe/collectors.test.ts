import type { Pod, StatefulSet } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import { Seats } from "./collectors.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const SINCE = "2026-01-01T00:09:00Z";

const set = (replicas: number): StatefulSet => ({
  metadata: { name: "s-collector", namespace: "default" },
  spec: { replicas, selector: {}, template: {} },
});

function pod(name: string, ready: boolean, owner = "s-collector"): Pod {
  return {
    metadata: {
      name,
      namespace: "default",
      ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: owner, uid: "u" }],
    },
    spec: { containers: [], nodeName: "n1" },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: SINCE }] },
  };
}

const zoneOf = (node: string) => (node === "n1" ? "a" : undefined);

test("a ready pod is a collector with its node and zone, and one that is not ready is away since then", () => {
  const found = new Seats().observe(
    "u",
    set(2),
    [pod("s-collector-1", false), pod("s-collector-0", true)],
    zoneOf,
    NOW,
  );
  expect(found).toEqual([
    { name: "s-collector-0", ordinal: 0, node: "n1", zone: "a", awaySince: null },
    { name: "s-collector-1", ordinal: 1, node: "n1", zone: "a", awaySince: Date.parse(SINCE) },
  ]);
});

test("the seat of a pod that is gone is kept, and counts from when that was first seen", () => {
  const seats = new Seats();
  expect(seats.observe("u", set(1), [], zoneOf, NOW)).toEqual([{ name: "s-collector-0", ordinal: 0, awaySince: NOW }]);
  const [later] = seats.observe("u", set(1), [], zoneOf, NOW + 5000);
  expect(later?.awaySince).toBe(NOW);
  seats.observe("u", set(1), [pod("s-collector-0", true)], zoneOf, NOW + 6000);
  const [again] = seats.observe("u", set(1), [], zoneOf, NOW + 7000);
  expect(again?.awaySince).toBe(NOW + 7000);
});

test.each([
  ["a pod of another StatefulSet", pod("s-collector-0", true, "other")],
  ["a pod whose name has no ordinal", pod("s-collector-x", true)],
])("%s is no collector", (_what, stranger) => {
  expect(new Seats().observe("u", set(0), [stranger], zoneOf, NOW)).toEqual([]);
});
