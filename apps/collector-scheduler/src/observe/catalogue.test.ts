import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { pods } from "@evenkeel/kube";
import type { RelabelRule } from "@evenkeel/relabel";
import { systemClock } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { blocksOf, DiscoveryWorld, jobOf, tiringClock } from "../../test/discovery-world.ts";
import type { CatalogueJob } from "./catalogue-job.ts";
import { Catalogue, type CatalogueParts } from "./catalogue.ts";
import type { TargetChanges } from "./target.ts";

const addresses = ({ targets }: Catalogue): readonly string[] =>
  [...targets.values()].map(({ address }) => address).sort();

const statics = (...targets: readonly string[]) => ({ static_configs: [{ targets }] });
const roleOf = (role: string) => ({ kubernetes_sd_configs: [{ role }] });

/** The addresses of each change that was told. */
const told = (changes: readonly TargetChanges[]) =>
  changes.map(({ added, removed }) => [added.map(({ address }) => address), removed.map(({ address }) => address)]);

/** A catalogue of jobs that need no API server. */
function still(parts: Partial<CatalogueParts> = {}) {
  const catalogue = new Catalogue({
    clock: new FakeClock(), // work takes no time, so its changes are told at once
    discovery: { clock: systemClock } as CatalogueParts["discovery"],
    maxTargets: 1000,
    ...parts,
  });
  const changes: TargetChanges[] = [];
  catalogue.onChange((each) => changes.push(each));
  return { catalogue, changes, [Symbol.dispose]: () => catalogue.stop() };
}

/** A job that counts how often a target is relabelled. */
function counted(name: string, discovery: object, rules: readonly RelabelRule[] = []) {
  const job = jobOf(name, { ...discovery }, rules);
  const count = { relabelled: 0 };
  const relabelling = {
    ...job.relabelling,
    outcome: (...labels: Parameters<CatalogueJob["relabelling"]["outcome"]>) => {
      count.relabelled += 1;
      return job.relabelling.outcome(...labels);
    },
  };
  return { job: { ...job, relabelling }, count };
}

describe("a catalogue", () => {
  test("has the targets of static configs, with what a collector and a decision need", async () => {
    using world = still();
    const { catalogue, changes } = world;
    expect(catalogue.answered).toBe(true);
    catalogue.setJobs([jobOf("app", { static_configs: [{ targets: ["a:80"], labels: { team: "shop" } }] })]);
    expect(catalogue.answered).toBe(false);
    await eventually(() => expect(catalogue.answered).toBe(true));
    const [target] = catalogue.targets.values();
    expect(target).toMatchObject({ job: "prometheus/app", address: "a:80", interval: 30 });
    expect(target?.key).toBe("prometheus/app http://a:80/metrics");
    expect(target?.labels.get("team")).toBe("shop");
    expect(changes).toEqual([{ added: [target], removed: [] }]);
  });

  test("follows pods and tells each change once", async () => {
    await using world = await DiscoveryWorld.start();
    await world.addPod("web-0", { annotations: { "evenkeel.io/expected-series": "1200" } });
    const { catalogue, told: changes } = world.catalogue();
    catalogue.setJobs([jobOf("pods", roleOf("pod"))]);
    await eventually(() => expect(addresses(catalogue)).toEqual(["10.0.0.1:80"]));
    expect([...catalogue.targets.values()]).toMatchObject([{ node: "node-a", expectedSeries: 1200 }]);
    changes.length = 0;
    await world.addPod("web-1", { ip: "10.0.0.2" });
    await eventually(() => expect(addresses(catalogue)).toEqual(["10.0.0.1:80", "10.0.0.2:80"]));
    await world.removePod("web-0");
    await eventually(() => expect(addresses(catalogue)).toEqual(["10.0.0.2:80"]));
    expect(told(changes)).toEqual([
      [["10.0.0.2:80"], []],
      [[], ["10.0.0.1:80"]],
    ]);
  });

  test("relabels the group of a changed pod alone, and nothing when no label of it changed", async () => {
    await using world = await DiscoveryWorld.start();
    for (let index = 0; index < 20; index++) await world.addPod(`web-${index}`, { ip: `10.0.0.${index}` });
    const { catalogue, told: changes } = world.catalogue();
    const { job, count } = counted("pods", roleOf("pod"));
    catalogue.setJobs([job]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect(count.relabelled).toBe(20);
    const patch = (name: string, body: object) =>
      world.kube.resource(pods).patch({ namespace: "default", name }, { type: "merge", body });
    changes.length = 0;
    await patch("web-3", { metadata: { finalizers: [] } });
    await patch("web-7", { metadata: { labels: { "topology.kubernetes.io/zone": "z1" } } });
    await eventually(() => expect(count.relabelled).toBe(21));
    // Same labels after relabelling, other zone: the same target, told as changed.
    await eventually(() => expect(told(changes)).toEqual([[["10.0.0.7:80"], ["10.0.0.7:80"]]]));
    expect(changes[0]?.added[0]).toMatchObject({ zone: "z1", identity: changes[0]?.removed[0]?.identity });
  });

  test("looks only at the groups that a job keeps by literal values", async () => {
    await using world = await DiscoveryWorld.start();
    for (const index of [0, 1, 2, 3])
      await world.addPod(`p-${index}`, { ip: `10.0.0.${index}`, labels: { app: `a${index % 2}` } });
    const { catalogue } = world.catalogue();
    const keep = { source_labels: ["__meta_kubernetes_pod_label_app"], regex: "a1", action: "keep" };
    const one = counted("one", roleOf("pod"), [keep]);
    const other = counted("other", roleOf("pod"), [{ ...keep, regex: "none" }]);
    catalogue.setJobs([one.job, other.job]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect(addresses(catalogue)).toEqual(["10.0.0.1:80", "10.0.0.3:80"]);
    expect([one.count.relabelled, other.count.relabelled]).toEqual([2, 0]);
    const late = counted("late", roleOf("pod"), [{ ...keep, regex: "a0" }]);
    catalogue.setJobs([one.job, other.job, late.job]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect([catalogue.targets.size, one.count.relabelled, late.count.relabelled]).toEqual([4, 2, 2]);
    const body = { metadata: { labels: { app: "none" } } };
    await world.kube.resource(pods).patch({ namespace: "default", name: "p-1" }, { type: "merge", body });
    await eventually(() => expect([...catalogue.targets.values()].map(({ job }) => job)).toContain("prometheus/other"));
    expect(addresses(catalogue)).toHaveLength(4);
    expect(world.feeds.watches).toBe(1);
  });

  test("keeps what did not change when its jobs change", async () => {
    using world = still();
    const { catalogue, changes } = world;
    const a = counted("a", statics("a:80"));
    catalogue.setJobs([a.job, jobOf("b", statics("b:80")), jobOf("c", statics("c:80"))]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    changes.length = 0;
    const b = jobOf("b", statics("b:80"), [{ target_label: "team", replacement: "x" }]);
    catalogue.setJobs([counted("a", statics("a:80")).job, b, jobOf("d", statics("d:80"))]);
    await eventually(() =>
      expect(told(changes)).toEqual([
        [
          ["b:80", "d:80"],
          ["c:80", "b:80"],
        ],
      ]),
    );
    expect(a.count.relabelled).toBe(1);
    expect(catalogue.sources.map(({ job, mechanism }) => [job, mechanism])).toEqual([
      ["prometheus/a", "static"],
      ["prometheus/b", "static"],
      ["prometheus/d", "static"],
    ]);
    expect([catalogue.hasAnswered("prometheus/d"), catalogue.hasAnswered("prometheus/c")]).toEqual([true, false]);
  });

  test("has a target once that several groups give, until the last of them is gone", async () => {
    using world = still();
    const { catalogue, changes } = world;
    const twice = { static_configs: [{ targets: ["a:80", "a:80"] }, { targets: ["a:80", "b:80"] }] };
    catalogue.setJobs([jobOf("a", twice)]);
    await eventually(() => expect(addresses(catalogue)).toEqual(["a:80", "b:80"]));
    changes.length = 0;
    catalogue.setJobs([jobOf("a", statics("a:80"))]);
    await eventually(() => expect(told(changes)).toEqual([[[], ["b:80"]]]));
    catalogue.setJobs([]);
    await eventually(() => expect(catalogue.targets.size).toBe(0));
  });

  test("tells apart targets of jobs of one name in two receivers, and of one address with other parameters", async () => {
    using world = still();
    const { catalogue } = world;
    const probe = (parameter: string): CatalogueJob => {
      const job = jobOf("probe", statics("a:80"), [{ target_label: "__param_target", replacement: parameter }]);
      return { ...job, job: `prometheus/${parameter}/probe` };
    };
    catalogue.setJobs([probe("x"), probe("y"), { ...probe("x"), job: "prometheus/z/probe" }]);
    await eventually(() => expect(catalogue.targets.size).toBe(3));
    expect(new Set([...catalogue.targets.values()].map(({ key }) => key)).size).toBe(3);
  });

  test("holds groups back beyond its limit, and takes them when there is room", async () => {
    using world = still({ maxTargets: 3 });
    const { catalogue } = world;
    const [a, b] = [jobOf("a", statics("a:1", "a:2")), jobOf("b", statics("b:1", "b:2"))];
    catalogue.setJobs([a, b]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect([addresses(catalogue), catalogue.heldBack]).toEqual([["a:1", "a:2"], 1]);
    catalogue.setJobs([b]);
    await eventually(() => expect(addresses(catalogue)).toEqual(["b:1", "b:2"]));
    expect(catalogue.heldBack).toBe(0);
  });

  test("takes the zone of its node where nothing else says it, also later", async () => {
    await using world = await DiscoveryWorld.start();
    await world.addPod("web-0");
    const zones = new Map<string, string>();
    let moved: (node: string) => void = () => undefined;
    const { catalogue, told: changes } = world.catalogue({
      zones: {
        isAwaited: false,
        zoneOf: (node) => zones.get(node),
        onChange: (listener) => {
          moved = listener;
          return () => undefined;
        },
      },
    });
    catalogue.setJobs([jobOf("pods", roleOf("pod"))]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect([...catalogue.targets.values()][0]?.zone).toBeUndefined();
    changes.length = 0;
    zones.set("node-a", "z1");
    moved("node-a");
    await eventually(() => expect(changes).toMatchObject([{ added: [{ zone: "z1" }], removed: [{ node: "node-a" }] }]));
  });

  test("has not answered before every source has, and says which fails", async () => {
    await using world = await DiscoveryWorld.start();
    const back = world.faults.add({ fault: { kind: "status", code: 500 }, resource: "ingresses" });
    const { catalogue, told: changes } = world.catalogue();
    catalogue.setJobs([jobOf("a", statics("a:80")), jobOf("b", { ...statics("b:80"), ...roleOf("ingress") })]);
    await eventually(() => expect(catalogue.sources[2]?.health.fault).toEqual(expect.any(String)));
    expect([catalogue.answered, catalogue.hasAnswered("prometheus/a"), catalogue.hasAnswered("prometheus/b")]).toEqual([
      false,
      true,
      false,
    ]);
    back();
    await eventually(() => expect(catalogue.answered).toBe(true));
    // The answer had no targets, and is told all the same.
    await eventually(() => expect(changes.at(-1)).toEqual({ added: [], removed: [] }));
  });

  test("has not answered for a source of which groups are still to be relabelled", async () => {
    await using world = await DiscoveryWorld.start();
    const groupsOf = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ targets: [`${name}-${index}:80`] }));
    await writeFile(join(world.folder, "late.json"), JSON.stringify(groupsOf("late", 20)));
    const { catalogue } = world.catalogue({
      clock: tiringClock(),
      discovery: { ...world.parts, files: world.folder },
    });
    const seen: number[] = [];
    catalogue.onChange(() => {
      if (catalogue.hasAnswered("prometheus/late")) seen.push(catalogue.targets.size);
    });
    // The file is read while the static groups are relabelled.
    const late = { file_sd_configs: [{ files: ["late.json"] }] };
    catalogue.setJobs([
      { ...jobOf("late", {}), discovery: blocksOf(late, world.folder) },
      jobOf("many", { static_configs: groupsOf("many", 2000) }),
    ]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect(seen).toEqual([2020]);
  });

  test("goes on with other groups and jobs when one cannot be relabelled, and says which", async () => {
    using world = still();
    const { catalogue } = world;
    const bad = jobOf("bad", { static_configs: [{ targets: ["x:1"] }, { targets: ["y:1"] }] });
    const relabelling = {
      ...bad.relabelling,
      outcome: (...labels: Parameters<CatalogueJob["relabelling"]["outcome"]>) => {
        if (labels[1].get("__address__") === "x:1") throw new RangeError("Invalid string length");
        return bad.relabelling.outcome(...labels);
      },
    };
    catalogue.setJobs([{ ...bad, relabelling }, jobOf("good", statics("a:1"))]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    expect(addresses(catalogue)).toEqual(["a:1", "y:1"]);
    expect(catalogue.sources.map(({ job, health }) => [job, health.fault?.includes("Invalid string length")])).toEqual([
      ["prometheus/bad", true],
      ["prometheus/good", undefined],
    ]);
  });

  test("has no target of a block that its job lost while groups of it were relabelled", async () => {
    using world = still({ clock: tiringClock(), maxTargets: 10_000 });
    const { catalogue } = world;
    const many = Array.from({ length: 3000 }, (_, index) => ({ targets: [`old-${index}:1`] }));
    const other = jobOf("other", { static_configs: many });
    catalogue.setJobs([other]);
    await eventually(() => expect(catalogue.targets.size).toBe(3000));
    // The block is known, so that the job has its groups at once, some thousand steps long.
    catalogue.setJobs([other, jobOf("app", { static_configs: many })]);
    await eventually(() => expect(catalogue.targets.size).toBeGreaterThan(3000));
    expect(catalogue.targets.size).toBeLessThan(6000);
    catalogue.setJobs([other, jobOf("app", statics("new:1"))]);
    await eventually(() => expect(catalogue.answered).toBe(true));
    await eventually(() => expect(catalogue.targets.size).toBe(3001));
  });
});
