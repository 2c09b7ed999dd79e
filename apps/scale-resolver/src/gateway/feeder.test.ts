import { type EndpointSlice, type Service, Store } from "@evenkeel/kube";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { beforeEach, describe, expect, test } from "@jest/globals";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { Bindings, namedService } from "../observe/bindings.ts";
import type { ServiceEndpoint } from "../observe/endpoints.ts";
import { silence } from "../testing/loopback-rpc.ts";
import { stored } from "../testing/shown-service.ts";
import { Feeder } from "./feeder.ts";
import type { GateRoute } from "./gate/gate-route.ts";

const KEY = "shop/checkout";
const SETTLE = 2000;
const POD: ServiceEndpoint = {
  ...{ address: "10.0.0.7", pod: "checkout-1", uid: "p1", ports: { http: 8080 } },
  ...{ ready: true, serving: true, terminating: false },
};

const SERVICE: Service = {
  metadata: { namespace: "shop", name: "checkout" },
  spec: { ports: [{ name: "http", port: 80 }] },
};

describe("the gate", () => {
  let objects: Store<StoredElastiService, "service">;
  let services: Store<Service>;
  let slices: Store<EndpointSlice, "service">;
  let feeder: Feeder;
  let clock: FakeClock;
  /** The calls of the gate, in order. */
  let told: string[];
  let routes: GateRoute[];
  let forgotten: string[];
  /** That have arrived for the Service. */
  let requests: number;
  /** Resolves when the ports of a Service are open. */
  let opened: Promise<void>;
  /** Resolves when the requests in flight of a removed Service have ended. */
  let ended: Promise<void>;

  beforeEach(async () => {
    objects = new Store({ log: silence, indexes: { service: namedService } });
    services = new Store<Service>({ log: silence });
    clock = new FakeClock();
    slices = new Store<EndpointSlice, "service">({ log: silence, indexes: { service: () => [] } });
    services.put(SERVICE);
    const bindings = new Bindings(objects);
    told = [];
    routes = [];
    forgotten = [];
    requests = 0;
    opened = ended = Promise.resolve();
    feeder = new Feeder({
      view: {
        ...{ objects, services, slices, bindings },
        endpoints: () => [POD],
        binding: (key) => {
          const owner = bindings.ownerOf(key);
          const understood = owner && bindings.understand(owner);
          return understood?.kind === "service" ? understood.binding : undefined;
        },
      },
      gate: {
        put: (route) => {
          routes.push(route);
          return opened.then(() => void told.push(`put ${route.key}`));
        },
        remove: (key) => {
          told.push(`remove ${key}`);
          return ended;
        },
        activity: () => ({ pending: 0, inFlight: 0, requests, lastRequestAt: null }),
        endpoints: (key, { length }) => void told.push(`${length} at ${key}`),
      },
      ready: () => undefined,
      forgotten: (key) => forgotten.push(key),
      prepare: () => Promise.resolve(),
      ...{ clock, settle: SETTLE },
      log: silence,
    });
    await feeder.start();
    forgotten.length = 0;
  });

  test("has open ports for each managed Service before the replica is ready", async () => {
    await feeder.stop();
    objects.put(stored("checkout"));
    const opening = Promise.withResolvers<undefined>();
    opened = opening.promise;
    const started = feeder.start().then(() => told.push("started"));
    await clock.advance(0);
    expect(told).not.toContain("started");
    opening.resolve(undefined);
    await started;
    expect(told.slice(-2)).toEqual([`put ${KEY}`, "started"]);
  });

  test("gets the endpoints of managed Services, and none of a Service that is no longer managed", async () => {
    objects.put(stored("checkout"));
    objects.remove(stored("checkout"));
    await clock.advance(SETTLE);
    expect(told).toEqual([`1 at ${KEY}`, `put ${KEY}`, `remove ${KEY}`, `0 at ${KEY}`]);
  });

  test("keeps the ports of a Service open until no node redirects requests to them", async () => {
    objects.put(stored("checkout"));
    objects.remove(stored("checkout"));
    await clock.advance(SETTLE - 1);
    expect(told).toEqual([`1 at ${KEY}`, `put ${KEY}`]);
    await clock.advance(1);
    expect(told).toContain(`remove ${KEY}`);
  });

  test("opens the ports of a Service that is managed again while requests of before are still in flight", async () => {
    const flying = Promise.withResolvers<undefined>();
    ended = flying.promise;
    objects.put(stored("checkout"));
    objects.remove(stored("checkout"));
    await clock.advance(SETTLE);
    told.length = 0;
    objects.put(stored("checkout"));
    await clock.advance(0);
    expect(told).toEqual([`1 at ${KEY}`, `put ${KEY}`]);

    const stopped = feeder.stop().then(() => told.push("stopped"));
    await clock.advance(0);
    expect(told).not.toContain("stopped");
    flying.resolve(undefined);
    await stopped;
  });

  test("keeps them open as long as requests still arrive there, and for a minute at most", async () => {
    objects.put(stored("checkout"));
    objects.remove(stored("checkout"));
    for (let second = 0; second < 10; second++) {
      requests += 1;
      await clock.advance(1000);
    }
    expect(told).not.toContain(`remove ${KEY}`);
    await clock.advance(2 * SETTLE);
    expect(told).toContain(`remove ${KEY}`);
    told.length = 0;
    objects.put(stored("checkout"));
    objects.remove(stored("checkout"));
    for (let second = 0; second < 62; second++) {
      requests += 1;
      await clock.advance(1000);
    }
    expect(told).toContain(`remove ${KEY}`);
  });

  test("closes the ports of a Service that is deleted at once", async () => {
    objects.put(stored("checkout"));
    services.remove({ metadata: { namespace: "shop", name: "checkout" } });
    await clock.advance(0);
    expect(told).toContain(`remove ${KEY}`);
  });

  test("keeps them if the ElastiService is created again", async () => {
    objects.put(stored("checkout"));
    objects.remove(stored("checkout"));
    await clock.advance(SETTLE / 2);
    objects.put(stored("checkout"));
    await clock.advance(SETTLE);
    expect(told).not.toContain(`remove ${KEY}`);
    expect(told).not.toContain(`0 at ${KEY}`);
  });

  test("is ready only when the ports of all Services of the first lists are open", async () => {
    const opening = Promise.withResolvers<undefined>();
    opened = opening.promise;
    const [some, all] = [objects.draft(), services.draft()];
    some.put(stored("checkout"));
    all.put(SERVICE);
    // The store has the list, and reports its objects later.
    const reports = objects.replace(some);
    services.replace(all);
    slices.replace(slices.draft());
    await clock.advance(0);
    expect(feeder.unready()).toMatch(/ports/);
    Array.from(reports);
    await clock.advance(0);
    expect(feeder.unready()).toMatch(/ports/);
    opening.resolve(undefined);
    await eventually(() => expect(feeder.unready()).toBeUndefined());
  });

  test("gets which ports wake a Service", async () => {
    const both = [
      { name: "http", port: 80 },
      { name: "metrics", port: 9090 },
    ];
    services.put({ ...SERVICE, spec: { ports: both } });
    const { spec } = stored("checkout");
    objects.put(stored("checkout", { spec: { ...(spec as object), wakePorts: ["http"] } }));
    await eventually(() => expect(routes).toHaveLength(1));
    expect(routes[0]?.ports.map(({ port, wakes }) => [port, wakes])).toEqual([
      [80, true],
      [9090, false],
    ]);
  });

  test("forgets a Service when its ElastiService is deleted, even if another is created at once", () => {
    objects.put(stored("checkout"));
    objects.put(stored("checkout", { status: { state: "Serve" } }));
    expect(forgotten).not.toContain(KEY);
    objects.remove(stored("checkout"));
    objects.put(stored("checkout"));
    expect(forgotten).toEqual([KEY]);
  });
});
