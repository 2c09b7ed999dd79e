import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Forbidden, Unreachable } from "../errors.ts";
import { ForeignLease } from "./foreign-lease.ts";
import type { Lease } from "../objects/resource-types.ts";
import { captureLog } from "../testing/captured-log.ts";
import { MemoryResource, refusal } from "../testing/memory-resource.ts";

const NAME = { namespace: "elsewhere", name: "other.example.com" };
const LIVE = "pod-1 (Lease elsewhere/other.example.com)";
const START = Date.parse("2026-01-01T00:00:00Z");

const lease = (spec: Lease["spec"] = {}): Lease => ({
  metadata: NAME,
  spec: {
    ...{ holderIdentity: "pod-1", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
    ...spec,
  },
});

function world(name = NAME.name) {
  const clock = new FakeClock(START);
  const leases = new MemoryResource<Lease>();
  const { log, lines } = captureLog();
  const foreign = new ForeignLease({ leases, name, clock, log });
  /** The results at these seconds after the start. */
  const toldAt = async (...seconds: readonly number[]): Promise<(string | null)[]> => {
    const told = [];
    for (const second of seconds) {
      await clock.advance(second * 1000 - clock.monotonic());
      told.push(await foreign.live());
    }
    return told;
  };
  return { clock, leases, lines, foreign, toldAt };
}

describe("the Lease of another controller", () => {
  test("is listed by its name, in all namespaces", async () => {
    const { leases, foreign } = world();
    expect(await foreign.live()).toBeNull();
    expect(leases.calls).toMatchObject([{ options: { fieldSelector: "metadata.name=other.example.com" } }]);
    expect(leases.calls[0]?.options).not.toHaveProperty("namespace");
  });

  test("counts in its own namespace alone if it is named with one", async () => {
    const { leases, toldAt } = world("elsewhere/other.example.com");
    await leases.create({ ...lease(), metadata: { ...NAME, namespace: "shop" } });
    expect(await toldAt(0)).toEqual([null]);
    await leases.create(lease());
    expect(await toldAt(10)).toEqual([LIVE]);
    const lists = leases.calls.filter(({ verb }) => verb === "list");
    expect(lists).toMatchObject(Array(2).fill({ options: { fieldSelector: "metadata.name=other.example.com" } }));
  });

  test("is live until it has not changed for its duration, and again when it is renewed", async () => {
    const { leases, toldAt } = world();
    await leases.create(lease());
    expect(await toldAt(0, 10, 20)).toEqual([LIVE, LIVE, null]);
    await leases.patch(NAME, { type: "merge", body: { spec: { renewTime: "2026-01-01T00:00:25.000000Z" } } });
    expect(await toldAt(30, 40, 50)).toEqual([LIVE, LIVE, null]);
  });

  test.each([
    ["an hour behind", -3_600_000],
    ["an hour ahead", 3_600_000],
  ])("is live only while it is renewed, if the clock of its host is %s", async (_name, offset) => {
    const { leases, toldAt } = world();
    const stamp = (second: number) => new Date(START + offset + second * 1000).toISOString().replace("Z", "000Z");
    await leases.create(lease({ renewTime: stamp(0) }));
    for (let second = 0; second <= 60; second += 10) {
      expect(await toldAt(second)).toEqual([LIVE]);
      await leases.patch(NAME, { type: "merge", body: { spec: { renewTime: stamp(second + 5) } } });
    }
    expect(await toldAt(70, 80, 90)).toEqual([LIVE, LIVE, null]);
  });

  test("is live while it is written although its renewTime does not change", async () => {
    const { leases, toldAt } = world();
    await leases.create(lease());
    for (let second = 0; second <= 60; second += 10) {
      expect(await toldAt(second)).toEqual([LIVE]);
      await leases.patch(NAME, { type: "merge", body: { spec: { leaseTransitions: second } } });
    }
  });

  test("does not depend on a wall clock that jumps", async () => {
    const { clock, leases, toldAt } = world();
    await leases.create(lease());
    expect(await toldAt(0)).toEqual([LIVE]);
    clock.jump(3_600_000);
    expect(await toldAt(10)).toEqual([LIVE]);
    clock.jump(-7_200_000);
    expect(await toldAt(20)).toEqual([null]);
  });

  test("lasts for the duration that it states", async () => {
    const { leases, toldAt } = world();
    await leases.create(lease({ leaseDurationSeconds: 60 }));
    expect(await toldAt(0, 50, 60)).toEqual([LIVE, LIVE, null]);
  });

  test("lasts two minutes at most without a renewal", async () => {
    const { leases, toldAt } = world();
    await leases.create(lease({ leaseDurationSeconds: 2_147_483_647 }));
    expect(await toldAt(0, 110, 120)).toEqual([LIVE, LIVE, null]);
  });

  test("lasts fifteen seconds if it states no duration", async () => {
    const { leases, toldAt } = world();
    await leases.create(lease({ leaseDurationSeconds: 0 }));
    expect(await toldAt(0, 10, 20)).toEqual([LIVE, LIVE, null]);
  });

  test.each<[string, Lease["spec"]]>([
    ["was given back", { holderIdentity: "" }],
    ["was last renewed two days ago", { renewTime: "2025-12-30T00:00:00.000000Z" }],
  ])("is not live when it %s", async (_name, spec) => {
    const { leases, foreign } = world();
    await leases.create(lease(spec));
    expect(await foreign.live()).toBeNull();
  });

  test("is live when one that was last renewed two days ago is renewed", async () => {
    const { leases, toldAt } = world();
    await leases.create(lease({ renewTime: "2025-12-30T00:00:00.000000Z" }));
    expect(await toldAt(0)).toEqual([null]);
    await leases.patch(NAME, { type: "merge", body: { spec: { renewTime: "2025-12-31T00:00:00.000000Z" } } });
    expect(await toldAt(10)).toEqual([LIVE]);
  });

  test("counts as not live if Leases may not be listed, with one warning", async () => {
    const { leases, lines, toldAt } = world();
    await leases.create(lease());
    leases.failNext("list", () => refusal(Forbidden, 403, "leases may not be listed"), 2);
    expect(await toldAt(0, 10)).toEqual([null, null]);
    expect(lines).toMatchObject([{ level: "warn", lease: NAME.name }]);
  });

  test("keeps its last result while the API server does not respond, and fails without one", async () => {
    const { leases, foreign, toldAt } = world();
    await leases.create(lease({ leaseDurationSeconds: 600 }));
    const unreachable = () => new Unreachable({ call: "list", fault: "refused" });
    leases.failNext("list", unreachable);
    await expect(foreign.live()).rejects.toMatchObject({ code: "EK_KUBE_UNREACHABLE" });
    expect(await toldAt(0)).toEqual([LIVE]);
    leases.failNext("list", unreachable);
    expect(await toldAt(10)).toEqual([LIVE]);
  });

  test("is read at most every ten seconds", async () => {
    const { clock, leases, foreign } = world();
    await Promise.all([foreign.live(), foreign.live()]);
    await clock.advance(9999);
    await foreign.live();
    expect(leases.count("list")).toBe(1);
  });
});
