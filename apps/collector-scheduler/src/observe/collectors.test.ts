import type { Pod, StatefulSet } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import { Seats } from "./collectors.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const LONG_AGO = NOW - 3_600_000;

const set = (replicas: number): StatefulSet => ({
  metadata: { name: "s-collector", namespace: "default" },
  spec: { replicas, selector: {}, template: {} },
});

interface PodFacts {
  readonly owner?: string;
  readonly uid?: string;
  /** When its Ready condition changed, by the clock of its node. */
  readonly changedAt?: number;
}

function pod(
  name: string,
  ready: boolean,
  { owner = "s-collector", uid = "p", changedAt = LONG_AGO }: PodFacts = {},
): Pod {
  const lastTransitionTime = new Date(changedAt).toISOString();
  return {
    metadata: {
      ...{ name, namespace: "default", uid },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: owner, uid: "u" }],
    },
    spec: { containers: [], nodeName: "n1" },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }] },
  };
}

const zoneOf = (node: string) => (node === "n1" ? "a" : undefined);

function watched() {
  const seats = new Seats();
  return (replicas: number, pods: readonly Pod[], now: number, members: readonly string[] = []) =>
    seats.observe({ uid: "u", statefulSet: set(replicas), pods, members, zoneOf, now });
}

test("a ready pod is a collector with its node and zone, and one that is not ready is away since that was seen", () => {
  expect(watched()(2, [pod("s-collector-1", false), pod("s-collector-0", true)], NOW)).toEqual([
    { name: "s-collector-0", ordinal: 0, node: "n1", zone: "a", awaySince: null, readySince: LONG_AGO },
    { name: "s-collector-1", ordinal: 1, node: "n1", zone: "a", awaySince: NOW },
  ]);
});

test("the seat of a pod that is gone is kept, and counts from when that was first seen", () => {
  const observe = watched();
  expect(observe(1, [], NOW)).toEqual([{ name: "s-collector-0", ordinal: 0, awaySince: NOW }]);
  expect(observe(1, [], NOW + 5000)).toMatchObject([{ awaySince: NOW }]);
  observe(1, [pod("s-collector-0", true)], NOW + 6000);
  expect(observe(1, [], NOW + 7000)).toMatchObject([{ awaySince: NOW + 7000 }]);
});

test("a member has a seat after the StatefulSet was shrunk, and is away since that was first seen", () => {
  const observe = watched();
  const [first, second] = [pod("s-collector-0", true), pod("s-collector-1", true)];
  const members = ["s-collector-0", "s-collector-1"];
  observe(2, [first, second], NOW, members);
  observe(1, [first], NOW + 1000, members);
  const [, gone] = observe(1, [first], NOW + 60_000, members);
  expect(gone).toEqual({ name: "s-collector-1", ordinal: 1, awaySince: NOW + 1000 });
});

test.each([-3_600_000, 3_600_000])("a node whose clock is %p ms off changes nothing", (off) => {
  const observe = watched();
  const facts = { changedAt: NOW + off };
  expect(observe(1, [pod("s-collector-0", false, facts)], NOW)).toMatchObject([{ awaySince: NOW }]);
  expect(observe(1, [], NOW + 5000)).toMatchObject([{ awaySince: NOW }]);
  const next = { ...facts, uid: "next" };
  expect(observe(1, [pod("s-collector-0", false, next)], NOW + 9000)).toMatchObject([{ awaySince: NOW }]);
  const back = pod("s-collector-0", true, next);
  expect(observe(1, [back], NOW + 10_000)).toMatchObject([{ awaySince: null, readySince: NOW + 10_000 }]);
  expect(observe(1, [back], NOW + 20_000)).toMatchObject([{ awaySince: null, readySince: NOW + 10_000 }]);
});

test("another pod in a seat is ready since it was seen, also if nothing was seen between the two", () => {
  const observe = watched();
  observe(1, [pod("s-collector-0", true)], NOW);
  expect(observe(1, [pod("s-collector-0", true, { uid: "next" })], NOW + 5000)).toMatchObject([
    { readySince: NOW + 5000 },
  ]);
});

test("a collector with a container that restarted has crashed", () => {
  const { status, ...rest } = pod("s-collector-0", true);
  const container = { name: "aoc2", image: "c", imageID: "", ready: true, restartCount: 1 };
  const crashed = { ...rest, status: { ...status, containerStatuses: [{ ...container, restartCount: 0 }, container] } };
  expect(watched()(1, [crashed], NOW)).toMatchObject([{ awaySince: null, hasCrashed: true }]);
});

test.each([
  ["a pod of another StatefulSet", pod("s-collector-0", true, { owner: "other" })],
  ["a pod whose name has no ordinal", pod("s-collector-x", true)],
])("%s is no collector", (_what, stranger) => {
  expect(watched()(0, [stranger], NOW)).toEqual([]);
});

test("a StatefulSet of very many replicas does not exhaust the memory", () => {
  expect(watched()(50_000_000, [], NOW)).toHaveLength(10_000);
});
