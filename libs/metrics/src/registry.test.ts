import { describe, expect, test } from "@jest/globals";
import { counter, gauge, histogram, MetricRegistry, oneOf, perObject, upTo } from "./index.ts";
import { OBJECT_SERIES_LIMIT } from "./series.ts";

const samples = async (registry: MetricRegistry, name: string): Promise<string[]> =>
  (await registry.text()).split("\n").filter((line) => line.startsWith(name));

describe("a closed label", () => {
  test("has every series at zero before anything happens", async () => {
    const registry = new MetricRegistry();
    registry.register({
      moves: counter("moves_total", "Moves.", { action: oneOf("raise", "lower"), reason: oneOf("A", "B") }),
    });
    expect(await samples(registry, "moves_total")).toEqual([
      'moves_total{action="raise",reason="A"} 0',
      'moves_total{action="raise",reason="B"} 0',
      'moves_total{action="lower",reason="A"} 0',
      'moves_total{action="lower",reason="B"} 0',
    ]);
  });

  test("counts a value from outside the list as other", async () => {
    const registry = new MetricRegistry();
    const { moves } = registry.register({ moves: counter("moves_total", "Moves.", { action: oneOf("raise") }) });
    moves.inc({ action: "'; drop" as "raise" });
    expect(await samples(registry, "moves_total")).toEqual([
      'moves_total{action="raise"} 0',
      'moves_total{action="other"} 1',
    ]);
  });

  test("gives a histogram its empty buckets at once", async () => {
    const registry = new MetricRegistry();
    registry.register({ took: histogram("took_seconds", "Time.", { verb: oneOf("get") }, [0.1, 1]) });
    expect(await samples(registry, "took_seconds_count")).toEqual(['took_seconds_count{verb="get"} 0']);
  });
});

describe("an object's series", () => {
  const table = {
    weight: gauge("weight", "Weight.", { namespace: perObject, name: perObject, target: upTo(5) }),
    writes: counter("writes_total", "Writes.", { namespace: perObject, name: perObject }),
    zones: gauge("zones", "Zones.", { zone: perObject }),
  };

  test("go when the object goes, and no others do", async () => {
    const registry = new MetricRegistry();
    const { weight, writes, zones } = registry.register(table);
    weight.set({ namespace: "a", name: "x", target: "one" }, 1);
    weight.set({ namespace: "a", name: "x", target: "two" }, 2);
    weight.set({ namespace: "b", name: "x", target: "one" }, 3);
    writes.inc({ namespace: "a", name: "x" });
    zones.set({ zone: "x" }, 4);
    registry.forget({ namespace: "a", name: "x" });
    expect(await samples(registry, "weight{")).toEqual(['weight{namespace="b",name="x",target="one"} 3']);
    expect(await samples(registry, "writes_total{")).toEqual([]);
    expect(await samples(registry, "zones{")).toEqual(['zones{zone="x"} 4']);
  });

  test("of an object without a namespace go also where the metric has no such label, and those of others stay", async () => {
    const registry = new MetricRegistry();
    const { nodes, writes } = registry.register({ ...table, nodes: gauge("nodes", "Nodes.", { name: perObject }) });
    nodes.set({ name: "x" }, 1);
    nodes.set({ name: "y" }, 2);
    writes.inc({ namespace: "", name: "x" });
    writes.inc({ namespace: "a", name: "x" });
    registry.forget({ namespace: "a", name: "x" });
    expect(await samples(registry, "nodes{")).toEqual(['nodes{name="x"} 1', 'nodes{name="y"} 2']);
    writes.inc({ namespace: "a", name: "x" });
    registry.forget({ namespace: "", name: "x" });
    expect(await samples(registry, "nodes{")).toEqual(['nodes{name="y"} 2']);
    expect(await samples(registry, "writes_total{")).toEqual(['writes_total{namespace="a",name="x"} 1']);
  });

  test("start anew when the object comes back", async () => {
    const registry = new MetricRegistry();
    const { writes } = registry.register(table);
    writes.inc({ namespace: "a", name: "x" }, 7);
    registry.forget({ namespace: "a", name: "x" });
    writes.inc({ namespace: "a", name: "x" });
    expect(await samples(registry, "writes_total{")).toEqual(['writes_total{namespace="a",name="x"} 1']);
  });

  test("are those of the values of each call, also if one object has them all", async () => {
    const registry = new MetricRegistry();
    const { writes } = registry.register(table);
    const reused = Object.freeze({ namespace: "a", name: "x" });
    writes.inc(reused, 7);
    registry.forget(reused);
    writes.inc(reused);
    registry.forget(reused);
    expect(await samples(registry, "writes_total{")).toEqual([]);
    const changed = { namespace: "a", name: "y" };
    writes.inc(changed);
    changed.name = "z";
    writes.inc(changed);
    expect(await samples(registry, "writes_total{")).toEqual([
      'writes_total{namespace="a",name="y"} 1',
      'writes_total{namespace="a",name="z"} 1',
    ]);
  });

  test("stop growing at the limit", async () => {
    const registry = new MetricRegistry();
    const { zones } = registry.register(table);
    for (let zone = 0; zone < OBJECT_SERIES_LIMIT + 10; zone++) zones.set({ zone: String(zone) }, 1);
    expect(await samples(registry, "zones{")).toHaveLength(OBJECT_SERIES_LIMIT);
    registry.forget({ zone: "0" });
    zones.set({ zone: "late" }, 1);
    expect(await samples(registry, 'zones{zone="late"}')).toHaveLength(1);
  });
});

test("a capped label counts late values as other", async () => {
  const registry = new MetricRegistry();
  const { seen } = registry.register({ seen: counter("seen_total", "Seen.", { host: upTo(2) }) });
  for (const host of ["a", "b", "c", "d", "a"]) seen.inc({ host });
  expect(await samples(registry, "seen_total{")).toEqual([
    'seen_total{host="a"} 2',
    'seen_total{host="b"} 1',
    'seen_total{host="other"} 2',
  ]);
});

describe("a gauge of something unknown", () => {
  test("is absent before it is first set", async () => {
    const registry = new MetricRegistry();
    registry.register({ depth: gauge("depth", "Depth.", {}) });
    expect(await samples(registry, "depth")).toEqual([]);
  });

  test("is absent again when the value becomes unknown", async () => {
    const registry = new MetricRegistry();
    const { depth, tank } = registry.register({
      depth: gauge("depth", "Depth.", {}),
      tank: gauge("tank", "Tank.", { name: perObject }),
    });
    depth.set({}, 3);
    tank.set({ name: "a" }, 3);
    expect(await samples(registry, "depth")).toEqual(["depth 3"]);
    depth.set({}, NaN);
    tank.set({ name: "a" }, Infinity);
    expect(await samples(registry, "depth")).toEqual([]);
    expect(await samples(registry, "tank{")).toEqual([]);
  });
});

test("a gauge counts in and out", async () => {
  const registry = new MetricRegistry();
  const { open } = registry.register({ open: gauge("open", "Open.", { door: oneOf("admin") }) });
  open.add({ door: "admin" }, 2);
  open.add({ door: "admin" }, -1);
  expect(await samples(registry, "open")).toEqual(['open{door="admin"} 1']);
});

test("two registries do not share values", async () => {
  const [one, two] = [new MetricRegistry(), new MetricRegistry()];
  const table = { seen: counter("seen_total", "Seen.", {}) };
  one.register(table).seen.inc({});
  two.register(table);
  expect(await samples(two, "seen_total")).toEqual(["seen_total 0"]);
});

test("the process's own metrics include memory and the event loop's delay", async () => {
  const registry = new MetricRegistry();
  registry.registerProcess();
  const text = await registry.text();
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

describe("a gauge that the leader alone sets", () => {
  const leaderOnly = { leaderOnly: true };

  test("has no series after the end of a term, and others keep theirs", async () => {
    const registry = new MetricRegistry();
    const { weight, pending, total } = registry.register({
      weight: gauge("weight", "Weight.", { name: perObject, state: oneOf("up", "down") }, leaderOnly),
      total: gauge("total_weight", "Weight in all.", {}, leaderOnly),
      pending: gauge("pending", "Requests.", { name: perObject }),
    });
    weight.set({ name: "x", state: "up" }, 1);
    total.set({}, 1);
    pending.set({ name: "x" }, 2);
    registry.endTerm();
    expect(await samples(registry, "weight{")).toEqual([]);
    expect(await samples(registry, "total_weight ")).toEqual([]);
    expect(await samples(registry, "pending{")).toEqual(['pending{name="x"} 2']);
  });

  test("has those of the next term alone, and room for as many", async () => {
    const registry = new MetricRegistry();
    const { weight } = registry.register({ weight: gauge("weight", "Weight.", { name: perObject }, leaderOnly) });
    for (let index = 0; index < OBJECT_SERIES_LIMIT; index += 1) weight.set({ name: `n${index}` }, 1);
    registry.endTerm();
    weight.set({ name: "x" }, 3);
    expect(await samples(registry, "weight{")).toEqual(['weight{name="x"} 3']);
  });
});
