import type { ClusterScoreStatus } from "@evenkeel/api";
import { Store } from "@evenkeel/kube";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { clusterScores, type StoredClusterScore } from "../cluster-score-resource.ts";
import { layoutOf, layoutWith } from "./stored-layouts.ts";
import { StoredMembers } from "./stored-members.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const room = { cpu: 4000, memory: 2 ** 30, pods: 110 };

describe("members", () => {
  let clock: FakeClock;
  let store: Store<StoredClusterScore>;
  let members: StoredMembers;

  const put = (
    name: string,
    status: ClusterScoreStatus,
    more: { own?: boolean; region?: string; annotations?: object } = {},
  ) => {
    const { group, version, kind } = clusterScores;
    store.put({
      ...{ apiVersion: `${group}/${version}`, kind },
      metadata: { name, namespace: "wao-system", annotations: { ...more.annotations } },
      spec: {
        endpoint: `https://${name}:18081`,
        region: more.region ?? `region-${name}`,
        owncluster: more.own ?? false,
      },
      status: { updateTimestamp: new Date(clock.now()).toISOString(), ...status },
    });
  };

  beforeEach(() => {
    clock = new FakeClock(NOW);
    store = new Store<StoredClusterScore>({ log: silentLog() });
    const about = { namespace: "wao-system", limit: 90_000, ownLabel: "local" };
    members = new StoredMembers({ store, clock, ...about });
  });

  test("are the own one first, then peers by name, with the label of their copies", () => {
    put("b", { score: 1 });
    put("c", { score: 2 }, { own: true });
    put("a", { score: 3 });
    put("d", { score: 4 }, { region: "" });
    expect(members.all().map(({ name, own, label }) => [name, own, label])).toEqual([
      ["c", true, "local"],
      ["a", false, "region-a"],
      ["b", false, "region-b"],
      ["d", false, "d"],
    ]);
  });

  test("are not scored after three intervals by the reader's clock, whatever the writer's clock says", async () => {
    put("a", { score: 412 });
    // The writer's clock is an hour ahead.
    put("a", { score: 413, updateTimestamp: new Date(NOW + 3_600_000).toISOString() });
    expect(members.get("a")).toMatchObject({ standing: "Ready", score: { score: 413, age: 0 } });
    await clock.advance(90_000);
    expect(members.get("a")?.standing).toBe("Ready");
    await clock.advance(1);
    expect(members.get("a")?.standing).toBe("Unscored");
  });

  test("are compared by capacity if not all have watts, with the cost of each", () => {
    put("a", { score: 412, source: "watts", free: { ...room, cpu: 1000 }, whole: room });
    expect(members.get("a")).toMatchObject({ score: { source: "watts", score: 412 } });
    put("b", { score: 250, source: "capacity", free: { ...room, cpu: 3000 }, whole: room });
    expect(members.get("a")).toMatchObject({ score: { source: "capacity", score: 750 } });
    put("a", { score: 412, free: { ...room, cpu: 1000 }, whole: room }, { annotations: { "evenkeel.io/cost": "50" } });
    expect(members.get("a")).toMatchObject({ score: { source: "capacity", score: 800 } });
  });

  test("of an original count as unscored where they cannot be compared, because it says no room", () => {
    put("a", { score: 412 });
    expect(members.get("a")?.standing).toBe("Ready");
    put("b", { score: 250, source: "capacity", free: room, whole: room });
    expect(members.get("a")).toMatchObject({ standing: "Unscored" });
  });
});

test("a place in the layout of versions is never dropped, and a new member is appended", () => {
  const first = layoutWith(undefined, ["own", "a"], NOW);
  expect(first.slots).toEqual(["own", "a"]);
  expect(layoutWith(first, ["own"], NOW)).toBe(first);
  expect(layoutWith(first, ["own", "b"], NOW)).toEqual({ epoch: first.epoch, slots: ["own", "a", "b"] });
  expect(layoutOf(JSON.stringify(first))).toEqual(first);
  expect(layoutOf('{"slots": [1]}')).toBeUndefined();
});
