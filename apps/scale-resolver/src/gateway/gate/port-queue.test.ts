import { Hold, type Slot } from "@evenkeel/forward";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { ServiceEndpoint } from "../../observe/endpoints.ts";
import { GatedService, servingOf } from "./gated-service.ts";
import type { GateRequest } from "./gate-request.ts";
import type { GateRoute } from "./gate-route.ts";
import type { Pod } from "./pod.ts";
import { ProbeRules } from "./probe-rules.ts";
import { PortQueue } from "./port-queue.ts";

const ROOM = { count: 100_000, bytes: 1e9 };

function route(changes: Partial<GateRoute> = {}, concurrencyPerPod: number | null = null): GateRoute {
  return {
    key: "shop/checkout",
    namespace: "shop",
    service: "checkout",
    ports: [{ name: "http", port: 80, listen: null }],
    hold: {
      timeout: 60_000,
      maxPending: 1000,
      maxPendingBytes: 1e9,
      concurrencyPerPod,
      retryAfterSeconds: 1,
      protocol: "auto",
      placeholder: null,
    },
    probes: new ProbeRules([]),
    dial: "pod",
    clusterAddress: null,
    byHeader: false,
    ...changes,
  };
}

function endpoint(address: string, state: Partial<ServiceEndpoint> = {}): ServiceEndpoint {
  const base = { address, pod: address, uid: address, ready: true, serving: true, terminating: false };
  return { ...base, ports: { http: 8080 }, ...state };
}

/** A queue, and the slots that pods have released: a request is settled only by the test. */
function newQueue(from: GateRoute = route()) {
  const clock = new FakeClock();
  const slots: Slot<Pod>[] = [];
  const service = new GatedService(from);
  const hold: Hold<GateRequest, Pod> = new Hold({
    clock,
    perKey: ROOM,
    overall: ROOM,
    settle: (_request, settlement) => {
      if (settlement.outcome === "released") slots.push(settlement.slot);
      queue.dequeued();
    },
  });
  const [port] = from.ports;
  if (!port) throw new Error("a route has a port");
  const queue: PortQueue = new PortQueue(service, port, { key: "queue", hold, clock });
  const enter = (count: number) => {
    for (let index = 0; index < count; index++) {
      hold.enter("queue", {} as GateRequest, { bytes: 1, wait: Infinity });
    }
  };
  const hosts = () => slots.map(({ upstream }) => upstream.http1.host);
  return { clock, slots, hold, queue, enter, hosts };
}

describe("while others wait, a pod", () => {
  test("gets 32 requests, and twice as many after each 250 ms", async () => {
    const { clock, slots, queue, enter } = newQueue();
    enter(1000);
    queue.update([endpoint("10.0.0.1")]);
    expect(slots).toHaveLength(32);
    await clock.advance(249);
    expect(slots).toHaveLength(32);
    await clock.advance(1);
    expect(slots).toHaveLength(64);
    await clock.advance(250);
    expect(slots).toHaveLength(128);
    await clock.advance(750);
    expect(slots).toHaveLength(1000);
    expect(clock.pending).toBe(0);
  });

  test("gets no more while it is fast: each slot was used four times in 250 ms", async () => {
    const { clock, slots, queue, enter, hold } = newQueue();
    enter(1000);
    queue.update([endpoint("10.0.0.1")]);
    for (const slot of slots.slice(0, 32)) slot.done();
    for (const slot of slots.slice(32, 64)) slot.done();
    for (const slot of slots.slice(64, 96)) slot.done();
    expect(slots).toHaveLength(128);
    await clock.advance(250);
    expect(slots).toHaveLength(128);
    await clock.advance(250);
    expect(slots).toHaveLength(160);
    expect(hold.waiting().count).toBe(840);
    queue.close();
  });

  test("gets as many as its cap where it has one, however long they wait", async () => {
    const { clock, slots, queue, enter } = newQueue(route({}, 3));
    enter(10);
    queue.update([endpoint("10.0.0.1"), endpoint("10.0.0.2")]);
    expect(slots).toHaveLength(6);
    await clock.advance(10_000);
    expect(slots).toHaveLength(6);
    slots[0]?.done();
    expect(slots).toHaveLength(7);
  });
});

describe("while no request waits, pods", () => {
  test("get requests without limit, each as many as the others", async () => {
    const { clock, queue, enter, hosts, hold } = newQueue();
    queue.update([endpoint("10.0.0.1"), endpoint("10.0.0.2")]);
    enter(1000);
    expect(hold.waiting().count).toBe(0);
    expect(hosts().filter((host) => host === "10.0.0.1")).toHaveLength(500);
    expect(clock.pending).toBe(0);
    await clock.advance(1000);
  });

  test("have no limit again as soon as the last that waited has a slot", () => {
    const { clock, slots, queue, enter } = newQueue();
    enter(20);
    queue.update([endpoint("10.0.0.1")]);
    expect(slots).toHaveLength(20);
    expect(clock.pending).toBe(0);
    enter(500);
    expect(slots).toHaveLength(520);
  });

  test("begin with 32 again when they have all been away", async () => {
    const { clock, slots, queue, enter } = newQueue();
    enter(500);
    queue.update([endpoint("10.0.0.1")]);
    await clock.advance(250);
    expect(slots).toHaveLength(64);
    queue.update([]);
    for (const slot of slots) slot.done();
    await clock.advance(250);
    expect(clock.pending).toBe(0);
    slots.length = 0;
    queue.update([endpoint("10.0.0.2")]);
    expect(slots).toHaveLength(32);
    queue.close();
    expect(clock.pending).toBe(0);
  });
});

describe("the queue of a port", () => {
  test("does not use a pod that is no longer in its slice", () => {
    const { queue, enter, hosts } = newQueue();
    queue.update([endpoint("10.0.0.1"), endpoint("10.0.0.2")]);
    queue.update([endpoint("10.0.0.2")]);
    enter(3);
    expect(hosts()).toEqual(["10.0.0.2", "10.0.0.2", "10.0.0.2"]);
  });

  test("does not use endpoints without a port of its name", () => {
    const { queue, enter, hosts } = newQueue();
    queue.update([endpoint("10.0.0.1", { ports: { admin: 9000 } })]);
    enter(1);
    expect(hosts()).toEqual([]);
  });

  test("uses the cluster IP with dial: service, with the capacity of all ready pods", () => {
    const dialled = route({ dial: "service", clusterAddress: "10.96.0.1" }, 2);
    const { queue, enter, hosts, slots } = newQueue(dialled);
    enter(10);
    queue.update([endpoint("10.0.0.1"), endpoint("10.0.0.2"), endpoint("10.0.0.3")]);
    expect(hosts()).toEqual(Array.from({ length: 6 }, () => "10.96.0.1"));
    expect(slots[0]?.upstream.http1.port).toBe(80);
  });

  test("uses pods with dial: service if the Service has no cluster IP", () => {
    const { queue, enter, hosts } = newQueue(route({ dial: "service", clusterAddress: null }));
    queue.update([endpoint("10.0.0.1")]);
    enter(1);
    expect(hosts()).toEqual(["10.0.0.1"]);
  });
});

describe("the endpoints that serve", () => {
  const ready = endpoint("ready");
  const leaving = endpoint("leaving", { ready: false, terminating: true });
  const starting = endpoint("starting", { ready: false, serving: false });
  const done = endpoint("done", { ready: false, serving: false, terminating: true });
  test.each([
    ["are the ready ones", [leaving, ready, starting], [ready]],
    ["are those that leave where none is ready", [leaving, starting, done], [leaving]],
    ["are none where none serves", [starting, done], []],
  ])("%s", (_name, all, expected) => {
    expect(servingOf(all)).toEqual(expected);
  });
});
