import { describe, expect, test } from "@jest/globals";
import { kubeErrors } from "@evenkeel/kube";
import type { RecordSet } from "@evenkeel/sim";
import { codeOf, Route53World, weighted, write } from "../../../test/route53-world.ts";

/** A last look that stops writes from when a test says so. */
class Look {
  overtaken = false;

  readonly lastLook = (): void => {
    if (this.overtaken) throw new kubeErrors.ActOvertaken({ object: "default/checkout", why: "changed" });
  };
}

describe("writing a weight", () => {
  test("changes the weight and nothing else of the record", async () => {
    const health = [{ name: "HealthCheckId", text: "abc-def", children: [] }];
    const blue = weighted("blue", 8, { values: ["192.0.2.1", "192.0.2.2"], others: health });
    await using world = await Route53World.start([blue, weighted("green", 1)]);
    await world.write(world.target("blue"), 16);
    const [entry] = world.route53.journal;
    expect(world.route53.journal).toHaveLength(1);
    expect(entry?.after).toEqual({ ...entry?.before, weight: 16 });
    expect(entry?.after).toMatchObject({ ttl: 60, values: ["192.0.2.1", "192.0.2.2"], others: health });
  });

  test("keeps an alias's target", async () => {
    const alias = { zone: "Z9", name: "lb.example.net.", evaluateTargetHealth: true };
    const record = { name: "www.example.com", type: "A", setIdentifier: "blue", weight: 8, alias };
    await using world = await Route53World.start([record, weighted("green", 1)]);
    await world.write(world.target("blue"), 16);
    expect(world.route53.journal[0]?.after).toMatchObject({ weight: 16, alias });
  });

  test("keeps what another client changed since the last read", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const target = world.target("blue");
    await world.read(target);
    await world.advance(10_000);
    world.route53.addZone("Z1", "example.com", [weighted("blue", 8, { ttl: 30, values: ["192.0.2.77"] })]);
    await world.write(target, 9);
    expect(world.route53.journal[0]?.after).toMatchObject({ weight: 9, ttl: 30, values: ["192.0.2.77"] });
  });

  test("does nothing when the weight is there already", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    await world.write(world.target("blue"), 8);
    expect(world.route53.journal).toEqual([]);
  });

  test("is seen by the next read without another call", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 1)]);
    const target = world.target("blue");
    await world.write(target, 16);
    const calls = world.calls.length;
    expect(await world.read(target, 60_000)).toMatchObject({ weight: 16 });
    expect(await world.read(world.target("green"), 60_000)).toMatchObject({ others: [{ name: "blue", weight: 16 }] });
    expect(world.calls).toHaveLength(calls);
  });

  test.each([256, -1, 1.5, NaN])("of %d is refused", async (weight) => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    expect(await codeOf(world.write(world.target("blue"), weight))).toBe("EK_WEIGHT_OUT_OF_RANGE");
    expect(world.calls).toEqual([]);
  });

  test("to a record that is not there creates none", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    expect(await codeOf(world.write(world.target("red"), 9))).toBe("EK_WEIGHT_ROUTE53_NO_RECORD");
    expect(world.weights()).toEqual({ blue: 8 });
  });

  test("is pending until Route 53 says that it is in effect everywhere", async () => {
    await using world = await Route53World.start([weighted("blue", 8)], { sim: { propagation: 30_000 } });
    const target = world.target("blue");
    await world.write(target, 16);
    expect(await world.read(target, 60_000)).toMatchObject({ pending: true });
    await world.advance(29_000);
    expect(await world.read(target, 60_000)).toMatchObject({ pending: true });
    await world.advance(10_000);
    expect(await world.read(target, 60_000)).toMatchObject({ pending: false });
    expect(world.calls.filter((call) => call.startsWith("follow"))).toEqual(Array(3).fill("follow ok"));
    expect(world.clock.pending).toBe(0);
  });

  test("is followed for ten minutes at most, and a log line says so", async () => {
    await using world = await Route53World.start([weighted("blue", 8)], { sim: { propagation: 3_600_000 } });
    const target = world.target("blue");
    await world.write(target, 16);
    await world.advance(660_000);
    expect(await world.read(target, 3_600_000)).toMatchObject({ pending: false });
    expect(world.log.filter((line) => line.includes("not in effect everywhere"))).toHaveLength(1);
    expect(world.clock.pending).toBe(0);
  });
});

describe("writes of one window", () => {
  test("go out as one batch", async () => {
    const names = Array.from({ length: 30 }, (_, i) => `r${i}.example.com`);
    await using world = await Route53World.start(names.map((name) => weighted("x", 1, { name })));
    await world.until(Promise.all(names.map((name) => write(world.record(name, "x"), 7))));
    expect(world.route53.journal).toHaveLength(30);
    expect(new Set(world.route53.journal.map(({ change }) => change)).size).toBe(1);
    expect(world.calls.filter((call) => call.startsWith("change"))).toEqual(["change ok"]);
  });

  test("are split where a batch would hold more than 1,000 elements, each record counted twice", async () => {
    const names = Array.from({ length: 900 }, (_, i) => `r${i}.example.com`);
    await using world = await Route53World.start(names.map((name) => weighted("x", 1, { name })));
    await world.until(Promise.all(names.map((name) => write(world.record(name, "x"), 7))));
    const batches = Map.groupBy(world.route53.journal, ({ change }) => change);
    expect([...batches.values()].map(({ length }) => length)).toEqual([500, 400]);
  });

  test("are split where a batch would hold more than 32,000 characters of values", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `r${i}.example.com`);
    const text = { type: "TXT", values: [`"${"a".repeat(998)}"`] };
    await using world = await Route53World.start(names.map((name) => weighted("x", 1, { name, ...text })));
    await world.until(Promise.all(names.map((name) => write(world.record(name, "x", "TXT"), 7))));
    const batches = Map.groupBy(world.route53.journal, ({ change }) => change);
    expect([...batches.values()].map(({ length }) => length)).toEqual([16, 4]);
  });

  test("of the same record: the later wins, the earlier is told so", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const target = world.target("blue");
    const earlier = codeOf(write(target, 9));
    const later = write(target, 10);
    expect(await world.until(earlier)).toBe("EK_WEIGHT_SUPERSEDED");
    await world.until(later);
    expect(world.route53.journal.map(({ after }) => after?.weight)).toEqual([10]);
  });

  test("are not sent when a last look finds that they are no longer wanted", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    const look = new Look();
    const lost = codeOf(write(world.target("blue"), 9, look));
    const kept = write(world.target("green"), 9);
    look.overtaken = true;
    expect(await world.until(lost)).toBe("EK_KUBE_ACT_OVERTAKEN");
    await world.until(kept);
    expect(world.weights()).toEqual({ blue: 8, green: 9 });
  });

  test("are withdrawn when their caller waits no longer", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    const caller = new AbortController();
    const work = write(world.target("blue"), 9, { signal: caller.signal });
    const code = codeOf(work);
    const kept = write(world.target("green"), 9);
    await world.advance(500);
    caller.abort(new Error("edited"));
    expect(await code).toBe("EK_WEIGHT_WITHDRAWN");
    await expect(work).rejects.toMatchObject({ cause: { message: "edited" } });
    await world.until(kept);
    expect(world.weights()).toEqual({ blue: 8, green: 9 });
  });

  test("are withdrawn when the process stops", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const code = codeOf(write(world.target("blue"), 9));
    await world.advance(250);
    world.targets.stop();
    expect(await code).toBe("EK_WEIGHT_WITHDRAWN");
    await world.advance(10_000);
    expect(world.weights()).toEqual({ blue: 8 });
    expect(world.clock.pending).toBe(0);
  });
});

describe("a write that is on its way", () => {
  const slow = ({ route53 }: Route53World) =>
    route53.faults.add({
      fault: { kind: "latency", milliseconds: 5_000 },
      when: ({ method }) => method === "POST",
      times: 1,
    });

  test("comes to its end before a later one of the same record is sent", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    slow(world);
    const target = world.target("blue");
    const earlier = write(target, 9);
    await world.advance(4_000);
    const later = write(target, 10);
    await world.until(Promise.all([earlier, later]));
    expect(world.route53.journal.map(({ after }) => after?.weight)).toEqual([9, 10]);
  });

  test("is told of when its caller gives up too late", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    slow(world);
    const caller = new AbortController();
    const work = write(world.target("blue"), 9, { signal: caller.signal });
    await world.advance(4_000);
    caller.abort();
    await world.until(work);
    expect(world.weights()).toEqual({ blue: 9 });
  });

  test("is not waited for when the process stops", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    slow(world);
    const code = codeOf(write(world.target("blue"), 9));
    await world.advance(4_000);
    world.targets.stop();
    expect(await code).toBe("EK_WEIGHT_ROUTE53_STOPPED");
  });
});

describe("a set in which all weights would be 0", () => {
  test("is refused for the one that would be the last", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 0)]);
    const work = world.write(world.target("blue"), 0);
    await expect(work).rejects.toMatchObject({ code: "EK_WEIGHT_ALL_ZERO", recovery: "terminal" });
    await expect(work).rejects.toThrow("route53 Z1/www.example.com A blue stays 8");
    expect(world.weights()).toEqual({ blue: 8, green: 0 });
  });

  test("is refused for the later of two in one batch", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    const first = write(world.target("blue"), 0);
    const second = codeOf(write(world.target("green"), 0));
    await world.until(first);
    expect(await second).toBe("EK_WEIGHT_ALL_ZERO");
    expect(world.weights()).toEqual({ blue: 0, green: 8 });
  });

  test("is not one when the same batch raises another", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 0)]);
    await world.until(Promise.all([write(world.target("blue"), 0), write(world.target("green"), 8)]));
    expect(world.weights()).toEqual({ blue: 0, green: 8 });
    expect(new Set(world.route53.journal.map(({ change }) => change)).size).toBe(1);
  });

  test("does not come about by the other types of the name", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("six", 8, { type: "AAAA" })]);
    expect(await codeOf(world.write(world.target("blue"), 0))).toBe("EK_WEIGHT_ALL_ZERO");
  });

  test("can be left", async () => {
    await using world = await Route53World.start([weighted("blue", 0), weighted("green", 0)]);
    await world.write(world.target("blue"), 1);
    expect(world.weights()).toEqual({ blue: 1, green: 0 });
  });
});

/** Changes records of the zone whenever a batch is on its way, as another client would, at most `times` times. */
function changeMeanwhile(
  { route53 }: Route53World,
  change: (record: RecordSet, time: number) => RecordSet,
  times = Infinity,
): void {
  let time = 0;
  const when = ({ method }: { method?: string | undefined }) => {
    if (method !== "POST" || time === times) return false;
    time += 1;
    const records = route53.records("Z1").filter(({ setIdentifier }) => setIdentifier !== undefined);
    route53.addZone(
      "Z1",
      "example.com",
      records.map((record) => change(record, time)),
    );
    return false;
  };
  route53.faults.add({ fault: { kind: "reset" }, when });
}

describe("a record that another client changes between the last read and the write", () => {
  test.each<[string, Partial<RecordSet>]>([
    ["TTL", { ttl: 30 }],
    ["values", { values: ["192.0.2.77"] }],
    [
      "health check",
      { others: [{ name: "HealthCheckId", text: "abcdef11-2222-3333-4444-555555fedcba", children: [] }] },
    ],
  ])("keeps its new %s and gets the weight", async (_field, edit) => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    changeMeanwhile(world, (record) => ({ ...record, ...edit }), 1);
    await world.write(world.target("blue"), 9);
    expect(world.calls.filter((call) => call.startsWith("change"))).toEqual(["change refused", "change ok"]);
    expect(world.route53.journal).toMatchObject([{ before: edit, after: { ...edit, weight: 9 } }]);
  });

  test("keeps a new weight that the decision did not know", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    changeMeanwhile(world, (record) => ({ ...record, weight: 99 }), 1);
    const work = world.until(write(world.target("blue"), 9, { expected: 8 }));
    await expect(work).rejects.toMatchObject({ code: "EK_WEIGHT_TARGET_CHANGED", recovery: "retryable" });
    await expect(work).rejects.toThrow("from 8 to 99");
    expect(world.weights()).toEqual({ blue: 99, green: 99 });
  });

  test("is not created again if it was deleted", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    changeMeanwhile(
      world,
      (record) => (record.setIdentifier === "blue" ? { ...record, name: "old.example.com." } : record),
      1,
    );
    expect(await codeOf(world.write(world.target("blue"), 9))).toBe("EK_WEIGHT_ROUTE53_NO_RECORD");
    expect(world.route53.journal).toEqual([]);
  });

  test("is left to the next reconcile when it changes all the time", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    changeMeanwhile(world, (record, time) => ({ ...record, ttl: 60 + time }));
    const work = world.write(world.target("blue"), 9);
    await expect(work).rejects.toMatchObject({ code: "EK_WEIGHT_ROUTE53_CONTENDED", recovery: "retryable" });
    expect(world.calls.filter((call) => call.startsWith("change"))).toEqual(Array(5).fill("change refused"));
    expect(world.weights()).toEqual({ blue: 8, green: 8 });
  });

  test("does not hold up the others of its batch", async () => {
    const names = Array.from({ length: 5 }, (_, i) => `r${i}.example.com.`);
    await using world = await Route53World.start(
      names.flatMap((name) => [weighted("x", 1, { name }), weighted("y", 1, { name })]),
    );
    changeMeanwhile(world, (record) => (record.name === names[3] ? { ...record, ttl: 30 } : record), 1);
    await world.until(Promise.all(names.map((name) => write(world.record(name, "x"), 7, { expected: 1 }))));
    expect(world.route53.journal.map(({ name, after }) => [name, after?.weight, after?.ttl]).sort()).toEqual(
      names.map((name) => [name, 7, name === names[3] ? 30 : 60]),
    );
  });

  test("has the weight if only the answer to the first request was lost", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    changeMeanwhile(world, (record) => (record.setIdentifier === "blue" ? { ...record, weight: 9 } : record), 1);
    await world.until(write(world.target("blue"), 9, { expected: 8 }));
    expect(world.route53.journal).toEqual([]);
  });
});

describe.each(["ErrorResponse", "InvalidChangeBatch"] as const)("a batch that is refused with %s", (refusal) => {
  const names = Array.from({ length: 9 }, (_, i) => `r${i}.example.com.`);
  const records = names.flatMap((name) => [weighted("x", 1, { name }), weighted("y", 1, { name })]);

  test("fails for the bad record alone, with Route 53's words", async () => {
    // A record with more than 500 values does not fit into a request that deletes and creates it.
    const values = Array.from({ length: 501 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    const bad = (record: RecordSet) => record.name === "r4.example.com." && record.setIdentifier === "x";
    const mixed = records.map((record) => (bad(record) ? { ...record, values } : record));
    await using world = await Route53World.start(mixed, { sim: { refusal } });
    const writes = names.map((name) => write(world.record(name, "x"), 7));
    const codes = Promise.all(writes.map(codeOf));
    expect(await world.until(codes)).toEqual(
      names.map((name) => (name === "r4.example.com." ? "EK_WEIGHT_ROUTE53_REFUSED" : undefined)),
    );
    await expect(writes[4]).rejects.toThrow("route53 Z1/r4.example.com A x");
    await expect(writes[4]).rejects.toThrow("limit of 1000");
  });

  test("fails for the record alone that changes all the time", async () => {
    await using world = await Route53World.start(records, { sim: { refusal } });
    changeMeanwhile(world, (record, time) =>
      record.name === "r4.example.com." ? { ...record, ttl: 60 + time } : record,
    );
    const codes = Promise.all(names.map((name) => codeOf(write(world.record(name, "x"), 7))));
    expect(await world.until(codes)).toEqual(
      names.map((name) => (name === "r4.example.com." ? "EK_WEIGHT_ROUTE53_CONTENDED" : undefined)),
    );
    expect(world.route53.journal.map(({ name }) => name).sort()).toEqual(
      names.filter((name) => !name.startsWith("r4")),
    );
  });

  test("succeeds once what was read is up to date", async () => {
    await using world = await Route53World.start(records, { sim: { refusal } });
    changeMeanwhile(world, (record) => ({ ...record, ttl: 30 }), 1);
    await world.write(world.record("r0.example.com", "x"), 7);
    expect(world.calls).toContain("change refused");
    expect(world.route53.journal.map(({ after }) => after)).toMatchObject([{ weight: 7, ttl: 30 }]);
  });
});

describe("a write that Route 53 does not take yet", () => {
  test("waits while the zone is busy with an earlier change", async () => {
    await using world = await Route53World.start([weighted("blue", 8)], { sim: { busy: 20_000 } });
    const target = world.target("blue");
    await world.write(target, 9);
    await world.write(target, 10);
    expect(world.calls).toContain("change busy");
    expect(world.weights()).toEqual({ blue: 10 });
  });

  test("is written after five minutes of throttling, all that waits in one batch", async () => {
    await using world = await Route53World.start([weighted("blue", 8), weighted("green", 8)]);
    await world.read(world.target("blue"));
    world.route53.limit({ perSecond: 0.000_001, burst: 1 });
    await world.read(world.target("blue"), 0);
    await world.advance(250);
    await codeOf(world.read(world.target("blue")));
    const writes = Promise.all([write(world.target("blue"), 9), write(world.target("green"), 9)]);
    await world.advance(300_000);
    expect(world.route53.journal).toEqual([]);
    world.route53.limit(undefined);
    await world.until(writes);
    expect(new Set(world.route53.journal.map(({ change }) => change)).size).toBe(1);
    expect(world.weights()).toEqual({ blue: 9, green: 9 });
    expect(world.calls.filter((call) => call.endsWith("throttled")).length).toBeLessThan(40);
  });

  test("says that it was throttled when its caller gives up, and is not written later", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.limit({ perSecond: 0.000_001, burst: 1 });
    const caller = new AbortController();
    const work = write(world.target("blue"), 9, { signal: caller.signal });
    const code = codeOf(work);
    await world.advance(60_000);
    caller.abort(new Error("too late"));
    expect(await code).toBe("EK_WEIGHT_ROUTE53_THROTTLED");
    await expect(work).rejects.toMatchObject({ cause: { message: "too late" }, recovery: "retryable" });
    world.route53.limit(undefined);
    await world.advance(120_000);
    expect(world.weights()).toEqual({ blue: 8 });
  });

  test("looks again before each attempt", async () => {
    await using world = await Route53World.start([weighted("blue", 8)], { sim: { busy: 60_000 } });
    const target = world.target("blue");
    await world.write(target, 9);
    const look = new Look();
    const code = codeOf(write(target, 10, look));
    await world.advance(5_000);
    expect(world.calls).toContain("change busy");
    look.overtaken = true;
    expect(await world.until(code)).toBe("EK_KUBE_ACT_OVERTAKEN");
    expect(world.weights()).toEqual({ blue: 9 });
  });

  test("is sent again after a cut connection and does no harm twice", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.faults.add({ fault: { kind: "reset" }, when: ({ method }) => method === "POST", times: 1 });
    await world.write(world.target("blue"), 9);
    expect(world.calls).toContain("change failed");
    expect(world.weights()).toEqual({ blue: 9 });
  });

  test("fails at once when it is denied", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.route53.faults.add({ fault: { kind: "status", code: 403 }, when: ({ method }) => method === "POST" });
    expect(await codeOf(world.write(world.target("blue"), 9))).toBe("EK_WEIGHT_ROUTE53_DENIED");
  });
});

describe("the account's limit", () => {
  test("holds for all zones together: five calls a second", async () => {
    await using world = await Route53World.start();
    for (let zone = 0; zone < 20; zone++) world.route53.addZone(`Y${zone}`, "example.com", [weighted("blue", 8)]);
    world.route53.limit({ perSecond: 5, burst: 5 });
    const reads = Array.from({ length: 20 }, (_, zone) =>
      world.target("blue", { hostedZoneID: `Y${zone}` }).read({ signal: new AbortController().signal, maxAge: 0 }),
    );
    await world.until(Promise.all(reads));
    expect(world.calls).toEqual(Array(20).fill("list ok"));
    expect(world.clock.monotonic()).toBeGreaterThanOrEqual(3_000);
  });
});
