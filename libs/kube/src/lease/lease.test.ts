import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { type Clock, type Loop, sleep, type Term, termUntil } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { ConnectionLost, Unreachable } from "../errors.ts";
import { leaseLeadership, type LeaseOptions } from "./lease.ts";
import { leaseMetrics } from "./lease-metrics.ts";
import { leaseContradictions } from "./lease-settings.ts";
import { HeldTerm } from "./lease-term.ts";
import type { Lease } from "../objects/resource-types.ts";
import { captureLog } from "../testing/captured-log.ts";
import { MemoryResource } from "../testing/memory-resource.ts";

const timing = { leaseDuration: 15_000, leaseRenewDeadline: 10_000, leaseRetryPeriod: 2000 };
const unreachable = () => new Unreachable({ call: "lease", fault: "refused" });

/** Leads until the term ends; `terms` has every term. */
function candidate(identity: string, clock: Clock, leases: MemoryResource<Lease>, options: Partial<LeaseOptions> = {}) {
  const { log, lines } = captureLog();
  const terms: Term[] = [];
  const leadership = leaseLeadership({
    leases,
    namespace: "evenkeel",
    name: "planner",
    identity,
    timing,
    clock,
    random: () => 0,
    log,
    ...options,
  });
  const ending = new AbortController();
  const lead: Loop = (term) => {
    terms.push(term);
    return new Promise((resolve) => term.signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  return {
    terms,
    lines,
    leads: () => terms.at(-1)?.signal.aborted === false,
    run: (loop: Loop = lead) => leadership.campaign(ending.signal, loop),
    stop: () => ending.abort(),
  };
}

function world() {
  const clock = new FakeClock();
  const leases = new MemoryResource<Lease>();
  const present = () => leases.objects.get("evenkeel/planner");
  return { clock, leases, present };
}

describe("a leader election", () => {
  test("creates the lease, leads, and renews it every retry period", async () => {
    const { clock, leases, present } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(0);
    expect(one.leads()).toBe(true);
    expect(present()?.spec).toMatchObject({
      holderIdentity: expect.stringMatching(/^one_[0-9a-f-]{36}$/),
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect(one.leads()).toBe(true);
    expect(present()?.spec?.renewTime).toBe("2026-01-01T00:01:00.000000Z");
    expect(leases.count("replace")).toBe(30);
    one.stop();
    await run;
    expect(clock.pending).toBe(0);
  });

  test("does not take a lease that is renewed, whatever the wall clocks say", async () => {
    const { clock, leases } = world();
    const [one, two] = [candidate("one", clock, leases), candidate("two", clock, leases)];
    const runs = [one.run(), clock.advance(0).then(() => two.run())];
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(60_000);
      clock.jump(86_400_000 * (minute % 2 === 0 ? 1 : -3));
    }
    expect([one.terms.length, two.terms.length]).toEqual([1, 0]);
    one.stop();
    two.stop();
    await Promise.all(runs);
  });

  test("takes over from a leader that stopped renewing, one lease duration later, with a larger token", async () => {
    const { clock, leases, present } = world();
    leases.put({
      metadata: { namespace: "evenkeel", name: "planner" },
      spec: {
        holderIdentity: "dead",
        leaseDurationSeconds: 15,
        renewTime: "2100-01-01T00:00:00.000000Z",
        leaseTransitions: 4,
      },
    });
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(14_000);
    expect(one.leads()).toBe(false);
    await clock.advance(2000);
    expect(one.leads()).toBe(true);
    expect(present()?.spec?.leaseTransitions).toBe(5);
    expect(one.terms[0]?.fencingToken).toBe(BigInt(leases.version));
    one.stop();
    await run;
  });

  test("waits for the duration in the lease, not for its own", async () => {
    const { clock, leases } = world();
    leases.put({
      metadata: { namespace: "evenkeel", name: "planner" },
      spec: { holderIdentity: "patient", leaseDurationSeconds: 60 },
    });
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(58_000);
    expect(one.leads()).toBe(false);
    await clock.advance(4000);
    expect(one.leads()).toBe(true);
    one.stop();
    await run;
  });

  test("ends the term before another may start when the API server is down, and leads again afterwards", async () => {
    const { clock, leases } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(4000);
    let away = true;
    for (const verb of ["get", "replace"] as const)
      leases.failNext(verb, () => (away ? unreachable() : undefined), 1000);
    await clock.advance(9999);
    expect(one.leads()).toBe(true);
    await clock.advance(1);
    expect(one.leads()).toBe(false);
    expect(one.terms[0]?.signal.reason).toMatchObject({ code: "EK_KUBE_LEASE_LOST" });
    const losses = () => one.lines.filter(({ msg }) => msg === "the lease is lost; leader-only work stops");
    expect(losses()).toHaveLength(1);
    await clock.advance(300_000);
    away = false;
    await clock.advance(2000);
    expect(one.leads()).toBe(true);
    const [first, second] = one.terms;
    expect(second?.fencingToken).toBeGreaterThan(first?.fencingToken ?? 0n);
    one.stop();
    await run;
  });

  test("ends the term at its deadline when a renewal hangs", async () => {
    const { clock, leases } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(0);
    const hanging = Promise.withResolvers<undefined>();
    leases.failNext("replace", () => hanging.promise);
    await clock.advance(9999);
    expect(one.leads()).toBe(true);
    await clock.advance(1);
    expect(one.leads()).toBe(false);
    // The response comes late: the write took place, but the term stays over.
    hanging.resolve(undefined);
    await clock.advance(0);
    expect(one.terms[0]?.signal.aborted).toBe(true);
    one.stop();
    await run;
  });

  test("counts the deadline from when the renewal was sent, not from its response", async () => {
    const { clock, leases } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(0);
    leases.failNext("replace", () => sleep(clock, 4000));
    leases.failNext("replace", unreachable, 100);
    leases.failNext("get", unreachable, 100);
    // Sent at 2 s, answered at 6 s: the term lasts until 12 s.
    await clock.advance(11_999);
    expect(one.leads()).toBe(true);
    await clock.advance(1);
    expect(one.leads()).toBe(false);
    one.stop();
    await run;
  });

  test("ends the term at once when another process has the lease", async () => {
    const { clock, leases, present } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(0);
    const lease = present();
    if (!lease) throw new Error("there is no lease");
    leases.put({ ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
    await clock.advance(2000);
    expect(one.leads()).toBe(false);
    expect(one.terms[0]?.signal.reason).toMatchObject({
      code: "EK_KUBE_LEASE_LOST",
      message: expect.stringContaining("thief"),
    });
    one.stop();
    await run;
    expect(present()?.spec?.holderIdentity).toBe("thief");
  });

  test("continues when the lease was only edited, and when the response to a renewal was lost", async () => {
    const { clock, leases, present } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(0);
    const lease = present();
    if (!lease) throw new Error("there is no lease");
    leases.put({ ...lease, metadata: { ...lease.metadata, labels: { seen: "yes" } } });
    await clock.advance(30_000);
    leases.failNext("replace", () => {
      const latest = present();
      if (latest) leases.put({ ...latest, spec: { ...latest.spec, renewTime: "2026-01-01T00:09:00.000000Z" } });
      return new ConnectionLost({ call: "lease", fault: "reset" });
    });
    await clock.advance(30_000);
    expect([one.terms.length, one.leads(), present()?.metadata.labels]).toEqual([1, true, { seen: "yes" }]);
    one.stop();
    await run;
  });

  test("stops when the lease is deleted; one lease duration later it leads with a larger token", async () => {
    const { clock, leases } = world();
    const one = candidate("one", clock, leases);
    const two = candidate("two", clock, leases);
    const runs = [one.run(), clock.advance(0).then(() => two.run())];
    await clock.advance(10_000);
    leases.take("evenkeel/planner");
    await clock.advance(2000);
    expect([one.leads(), two.leads()]).toEqual([false, false]);
    await clock.advance(12_000);
    expect([one.leads(), two.leads()]).toEqual([false, false]);
    await clock.advance(6000);
    expect([one.leads(), two.leads()].filter(Boolean)).toHaveLength(1);
    const token = (one.terms.length > 1 ? one : two).terms.at(-1)?.fencingToken;
    expect(token).toBeGreaterThan(one.terms[0]?.fencingToken ?? 0n);
    one.stop();
    two.stop();
    await Promise.all(runs);
  });
});

describe("a stop", () => {
  test("keeps the lease until the loop has ended, then releases it for another to take at once", async () => {
    const { clock, leases, present } = world();
    const [one, two] = [candidate("one", clock, leases), candidate("two", clock, leases)];
    const order: string[] = [];
    const first = one.run(async ({ signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await sleep(clock, 30_000);
      order.push(`loop over, held by ${present()?.spec?.holderIdentity?.split("_")[0] ?? "nobody"}`);
    });
    await clock.advance(0);
    const second = two.run();
    await clock.advance(1000);
    one.stop();
    await clock.advance(29_999);
    expect([order, two.leads()]).toEqual([[], false]);
    await clock.advance(1);
    await first;
    expect(order).toEqual(["loop over, held by one"]);
    expect(present()?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await clock.advance(2000);
    expect(two.leads()).toBe(true);
    two.stop();
    await second;
    expect(clock.pending).toBe(0);
  });

  test("is noticed within 100 ms by a candidate with a hint, which tries so often for five seconds only", async () => {
    const { clock, leases } = world();
    let hint = (): void => undefined;
    const releaseHints = (listener: () => void) => {
      hint = listener;
      return () => (hint = () => undefined);
    };
    const one = candidate("one", clock, leases);
    const first = one.run();
    await clock.advance(0);
    const two = candidate("two", clock, leases, { releaseHints });
    const second = two.run();
    await clock.advance(500);
    hint();
    await clock.advance(0);
    one.stop();
    await first;
    await clock.advance(100);
    expect(two.leads()).toBe(true);

    const three = candidate("three", clock, leases, { releaseHints });
    const third = three.run();
    await clock.advance(500);
    const before = leases.count("get");
    hint();
    hint();
    await clock.advance(5000);
    expect(leases.count("get") - before).toBe(51);
    await clock.advance(20_000);
    expect(leases.count("get") - before).toBe(61);
    for (const each of [two, three]) each.stop();
    await Promise.all([second, third]);
    expect(clock.pending).toBe(0);
  });

  test("ends even if the lease cannot be released", async () => {
    const { clock, leases } = world();
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(0);
    leases.failNext("get", unreachable);
    one.stop();
    await run;
    expect(one.lines.at(-1)).toMatchObject({ level: "warn", error: { code: "EK_KUBE_UNREACHABLE" } });
    expect(clock.pending).toBe(0);
  });

  test("of a candidate ends at once and does not write the lease", async () => {
    const { clock, leases, present } = world();
    leases.put({ metadata: { namespace: "evenkeel", name: "planner" }, spec: { holderIdentity: "other" } });
    const one = candidate("one", clock, leases);
    const run = one.run();
    await clock.advance(1000);
    one.stop();
    await run;
    expect([one.terms.length, present()?.spec?.holderIdentity, clock.pending]).toEqual([0, "other", 0]);
  });

  test("happens when the loop fails: the lease is released and the error is thrown", async () => {
    const { clock, leases, present } = world();
    const one = candidate("one", clock, leases);
    await expect(one.run(() => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
    expect([present()?.spec?.holderIdentity, clock.pending]).toEqual(["", 0]);
  });
});

test("the metric is 1 for the leader only", async () => {
  const { clock, leases } = world();
  const registry = new MetricRegistry();
  const one = candidate("one", clock, leases, { metrics: registry.register(leaseMetrics) });
  const run = one.run();
  await clock.advance(0);
  expect(await registry.text()).toContain('leader_election_master_status{name="planner"} 1');
  one.stop();
  await run;
  expect(await registry.text()).toContain('leader_election_master_status{name="planner"} 0');
});

test("of five candidates never two lead at once, while each loses the API server at times", async () => {
  const { clock, leases } = world();
  let seed = 7;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const cut = new Set<number>();
  const candidates = Array.from({ length: 5 }, (_, index) => {
    const way = new Proxy(leases, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== "function") return value;
        return (...parameters: unknown[]): unknown =>
          cut.has(index)
            ? Promise.reject(unreachable())
            : (value as (...all: unknown[]) => unknown).apply(target, parameters);
      },
    });
    return candidate(`c${index}`, clock, way, { random });
  });
  const runs = candidates.map((each) => each.run());
  let terms = 0;
  for (let step = 0; step < 600; step++) {
    if (random() < 0.1) cut.add(Math.floor(random() * 5));
    if (random() < 0.1) cut.delete(Math.floor(random() * 5));
    await clock.advance(random() * 3000);
    expect(candidates.filter((each) => each.leads()).length).toBeLessThanOrEqual(1);
    terms = candidates.reduce((sum, each) => sum + each.terms.length, 0);
  }
  const tokens = candidates.flatMap((each) => each.terms.map(({ fencingToken }) => fencingToken));
  expect(new Set(tokens).size).toBe(terms);
  expect(terms).toBeGreaterThan(10);
  for (const each of candidates) each.stop();
  await Promise.all(runs);
  expect(clock.pending).toBe(0);
});

describe("a process that was frozen", () => {
  /** A clock that moves without firing its timers, as a process sees it between SIGCONT and its first timer. */
  function frozenClock() {
    let now = 0;
    return {
      clock: { now: () => now, monotonic: () => now, schedule: () => () => undefined } satisfies Clock,
      move: (milliseconds: number) => (now += milliseconds),
    };
  }

  test("sees that its term has expired before any timer fires", () => {
    const { clock, move } = frozenClock();
    const held = new HeldTerm(clock, "planner", 1n, 0, 10_000);
    move(9999);
    expect(held.term.held()).toBe(true);
    move(1);
    expect(held.term.signal.aborted).toBe(false);
    expect(held.term.held()).toBe(false);
    expect(held.term.signal.aborted).toBe(true);
  });

  test("does not extend a term by a renewal whose response comes too late", () => {
    const { clock, move } = frozenClock();
    const held = new HeldTerm(clock, "planner", 1n, 0, 10_000);
    move(20_000);
    expect(held.renewed(19_999)).toBe(false);
    expect(held.term.signal.aborted).toBe(true);
  });

  test("still checks the lease when runtime's loops give the term a signal of their own", () => {
    const { clock, move } = frozenClock();
    const { term } = new HeldTerm(clock, "planner", 1n, 0, 10_000);
    const passedOn = termUntil(new AbortController().signal, term.fencingToken, term.held);
    move(10_000);
    expect(passedOn.held()).toBe(false);
  });
});

test("settings that could make two leaders are refused", () => {
  expect(leaseContradictions(timing)).toEqual([]);
  expect(leaseContradictions({ ...timing, leaseRenewDeadline: 15_000 })).toEqual([
    expect.stringMatching(/--lease-renew-deadline.*--lease-duration/),
  ]);
  expect(leaseContradictions({ leaseDuration: 500, leaseRenewDeadline: 400, leaseRetryPeriod: 390 })).toHaveLength(2);
  const { clock, leases } = world();
  expect(() => candidate("one", clock, leases, { timing: { ...timing, leaseRetryPeriod: 9000 } })).toThrow(RangeError);
});
