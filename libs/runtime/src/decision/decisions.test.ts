import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { FakeHost } from "../testing/fake-host.ts";
import type { Decider, Decision, Snapshot } from "./decision.ts";
import { Decisions, type DecisionsOptions } from "./decisions.ts";
import { parseRecording, replay } from "./recording.ts";

interface World extends Snapshot {
  readonly name?: string;
  readonly load: number | null;
  readonly weight: number;
  readonly dryRun?: boolean;
  readonly odd?: unknown;
}

/** Follows the load; without one it holds. */
const decider = {
  actions: ["hold", "set"],
  reasons: ["NoData", "Tracking"],
  decide: ({ name = "a", load, weight, dryRun }: World) => ({
    object: { kind: "Rebalance", namespace: "shop", name },
    action: load === null ? ("hold" as const) : ("set" as const),
    reason: load === null ? ("NoData" as const) : ("Tracking" as const),
    before: weight,
    after: load ?? weight,
    message: load === null ? "no sample" : `weight ${weight} becomes ${load}`,
    ...(dryRun === undefined ? {} : { dryRun }),
  }),
} satisfies Decider<World, "hold" | "set", "NoData" | "Tracking", number>;

function build(options: Partial<DecisionsOptions<typeof decider>> = {}) {
  const host = new FakeHost();
  const metrics = new MetricRegistry();
  const decisions = new Decisions({
    service: "sample",
    version: "1.0.0",
    decider,
    dryRun: false,
    recorder: { count: 100, bytes: 1_000_000 },
    log: host.log(),
    metrics,
    ...options,
  });
  const told: Decision[] = [];
  decisions.addSink({ record: (decision) => void told.push(decision) });
  const counts = async () =>
    (await metrics.text()).split("\n").filter((line) => line.startsWith("evenkeel_decisions_total{"));
  return { host, decisions, told, counts };
}

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;

describe("a decision that is news", () => {
  test("is stamped and told to every sink", async () => {
    const { host, decisions, told } = build();
    const decision = decisions.decide({ at: at(1), load: 5, weight: 3 });
    expect(decision).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      at: at(1),
      object: { kind: "Rebalance", namespace: "shop", name: "a" },
      action: "set",
      reason: "Tracking",
      before: 3,
      after: 5,
      message: "weight 3 becomes 5",
      dryRun: false,
    });
    expect(told).toEqual([decision]);
    expect(await decisions.ring.list({}, 10)).toEqual([decision]);
    expect(host.lines).toHaveLength(1);
  });

  test("is one line of the log, with all its parts as fields", () => {
    const { host, decisions } = build();
    const { id } = decisions.decide({ at: at(1), load: 5, weight: 3 });
    expect(host.lines[0]).toMatchObject({
      level: "info",
      decision: id,
      object: "Rebalance/shop/a",
      action: "set",
      reason: "Tracking",
      before: 3,
      after: 5,
      dryRun: false,
      msg: "weight 3 becomes 5",
    });
  });

  test("can be replayed from its recording", () => {
    const { decisions } = build();
    const { id } = decisions.decide({ at: at(1), load: 5, weight: 3 });
    const recording = parseRecording("x", decisions.recording(id) ?? "", "sample");
    expect(recording).toMatchObject({ version: "1.0.0", decision: { id }, snapshot: { load: 5, weight: 3 } });
    expect(replay(decider as unknown as Decider, recording).same).toBe(true);
    expect(decisions.recording("nobody")).toBeUndefined();
  });

  test("is carried out although a sink breaks its promise, and the other sinks hear of it", () => {
    const { host, decisions } = build();
    const later: Decision[] = [];
    decisions.addSink({
      record: () => {
        throw new Error("the stream is gone");
      },
    });
    decisions.addSink({ record: (decision) => void later.push(decision) });
    const decision = decisions.decide({ at: at(1), load: 5, weight: 3 });
    expect(later).toEqual([decision]);
    expect(host.lines.at(-1)).toMatchObject({
      level: "error",
      decision: decision.id,
      error: { message: "the stream is gone" },
    });
  });
});

describe("a repeat", () => {
  test("raises the counter and nothing else, and carries the id of what it repeats", async () => {
    const { host, decisions, told, counts } = build();
    const first = decisions.decide({ at: at(1), load: null, weight: 3 });
    const second = decisions.decide({ at: at(2), load: null, weight: 3 });
    expect(second).toEqual({ ...first, at: at(2) });
    expect(told).toHaveLength(1);
    expect(host.lines).toHaveLength(1);
    expect(await decisions.ring.list({}, 10)).toHaveLength(1);
    expect(await counts()).toContain('evenkeel_decisions_total{action="hold",reason="NoData"} 2');
  });

  test("is one although what was before differs, and keeps the message of what it repeats", () => {
    const { decisions, told } = build();
    const first = decisions.decide({ at: at(1), load: 5, weight: 3 });
    const second = decisions.decide({ at: at(2), load: 5, weight: 5 });
    expect(told).toHaveLength(1);
    expect(second).toMatchObject({ id: first.id, before: 5, message: first.message });
  });

  test.each<[string, Partial<World>]>([
    ["the outcome is another value", { load: 6 }],
    ["the action and reason are others", { load: null }],
    ["it has become a dry run", { dryRun: true }],
    ["it is about another object", { name: "b" }],
  ])("is none when %s", (_name, change) => {
    const { decisions, told } = build();
    const first = decisions.decide({ at: at(1), load: 5, weight: 3 });
    const second = decisions.decide({ at: at(2), load: 5, weight: 3, ...change });
    expect(told).toEqual([first, second]);
    expect(second.id).not.toBe(first.id);
  });

  test("is none when something else happened in between", () => {
    const { decisions, told } = build();
    for (const [second, load] of [5, null, 5].entries()) decisions.decide({ at: at(second), load, weight: 3 });
    expect(told.map(({ reason }) => reason)).toEqual(["Tracking", "NoData", "Tracking"]);
  });

  test("is none when the object was forgotten, and others are not forgotten with it", () => {
    const { decisions, told } = build();
    for (const name of ["a", "b"]) decisions.decide({ at: at(1), name, load: 5, weight: 3 });
    decisions.forget({ kind: "Rebalance", namespace: "shop", name: "a" });
    for (const name of ["a", "b"]) decisions.decide({ at: at(2), name, load: 5, weight: 3 });
    expect(told.map(({ object, at: when }) => [object.name, when])).toEqual([
      ["a", at(1)],
      ["b", at(1)],
      ["a", at(2)],
    ]);
  });

  test("is none when 10,000 other objects were decided about since, and one that is decided about is kept", () => {
    const { decisions, told } = build({ recorder: { count: 1, bytes: 1_000 } });
    const decide = (name: string) => decisions.decide({ at: at(1), name, load: 5, weight: 3 });
    for (const name of ["kept", "gone"]) decide(name);
    for (let other = 1; other < 10_000; other += 1) {
      decide(`other-${other}`);
      decide("kept");
    }
    const before = told.length;
    decide("kept");
    expect(told).toHaveLength(before);
    decide("gone");
    expect(told).toHaveLength(before + 1);
  });

  test("is none after all objects were forgotten", () => {
    const { decisions, told } = build();
    for (const name of ["a", "b"]) decisions.decide({ at: at(1), name, load: 5, weight: 3 });
    decisions.forgetAll();
    const again = decisions.decide({ at: at(2), name: "a", load: 5, weight: 5 });
    decisions.decide({ at: at(2), name: "b", load: 5, weight: 5 });
    expect(told).toHaveLength(4);
    expect(again.message).toBe("weight 5 becomes 5");
  });
});

describe("a dry run", () => {
  test.each([
    [false, undefined, false],
    [false, false, false],
    [false, true, true],
    [true, undefined, true],
    [true, false, true],
    [true, true, true],
  ])("with the flag at %s and the object's wish %s is %s", (flag, wish, dryRun) => {
    const { host, decisions } = build({ dryRun: flag });
    const world: World = { at: at(1), load: 5, weight: 3, ...(wish === undefined ? {} : { dryRun: wish }) };
    expect(decisions.decide(world).dryRun).toBe(dryRun);
    expect(host.lines[0]).toMatchObject({ dryRun });
  });
});

describe("the id of a decision", () => {
  const world: World = { at: at(1), load: 5, weight: 3 };
  const idOf = (snapshot: World, service = "sample") => build({ service }).decisions.decide(snapshot).id;

  test("is the same for the same snapshot in any process", () => {
    expect(idOf({ ...world })).toBe(idOf({ ...world }));
  });

  test("differs with the snapshot, its time and the service", () => {
    const ids = [idOf(world), idOf({ ...world, weight: 4 }), idOf({ ...world, at: at(2) }), idOf(world, "other")];
    expect(new Set(ids).size).toBe(4);
  });
});

describe("the counter", () => {
  test("has every combination at zero before the first decision", async () => {
    const { counts } = build();
    expect(await counts()).toEqual([
      'evenkeel_decisions_total{action="hold",reason="NoData"} 0',
      'evenkeel_decisions_total{action="hold",reason="Tracking"} 0',
      'evenkeel_decisions_total{action="set",reason="NoData"} 0',
      'evenkeel_decisions_total{action="set",reason="Tracking"} 0',
    ]);
  });
});

test("a snapshot that could not be replayed is refused and told to nobody", () => {
  const { host, decisions, told } = build();
  expect(() => decisions.decide({ at: at(1), load: 5, weight: 3, odd: new Map() })).toThrow(
    expect.objectContaining({ code: "EK_RUNTIME_SNAPSHOT_NOT_JSON" }),
  );
  expect([told, host.lines]).toEqual([[], []]);
  expect(decisions.decide({ at: at(2), load: 5, weight: 3 })).toMatchObject({ at: at(2) });
  expect(told).toHaveLength(1);
});

test("a verdict that was made elsewhere is recorded with its text, which is read only for news", () => {
  const { decisions, told } = build();
  const snapshot: World = { at: at(1), load: 5, weight: 3 };
  let reads = 0;
  const textOf = () => {
    reads += 1;
    return JSON.stringify(snapshot);
  };
  const first = decisions.record(decider.decide(snapshot), at(1), textOf);
  const second = decisions.record(decider.decide(snapshot), at(2), textOf);
  expect({ reads, told: told.length, same: second.id === first.id, at: second.at }).toEqual({
    reads: 1,
    told: 1,
    same: true,
    at: at(2),
  });
  const recording = parseRecording("file", decisions.recording(first.id) ?? "", "sample");
  expect(replay(decider, recording).same).toBe(true);
});
