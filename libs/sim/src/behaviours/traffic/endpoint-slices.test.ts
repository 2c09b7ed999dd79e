import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr } from "../../json.ts";
import { tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { endpointSlices } from "./endpoint-slices.ts";

const service = (spec: Fields = {}): Fields => ({
  metadata: { name: "web", labels: { team: "a" } },
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
});

function start(body: Fields = service()): SmallWorld {
  const world = new SmallWorld(endpointSlices);
  world.create(tables.services, body);
  return world;
}

/** A pod on node `n` that runs under an address. */
async function run(world: SmallWorld, name: string, podIP: string, spec: Fields = {}): Promise<void> {
  const labels = { app: "web" };
  world.create(tables.pods, {
    metadata: { name, labels },
    spec: { nodeName: "n", containers: [{ name: "c" }], ...spec },
  });
  world.update(tables.pods, name, ({ status }) => ({ status: { ...fieldsOr(status), podIP } }), "status");
  world.run(name);
  await world.clock.advance(0);
}

const endpoints = (world: SmallWorld): Fields[] =>
  world.list(tables.slices).flatMap((slice) => slice["endpoints"] as Fields[]);
const conditions = (world: SmallWorld): unknown => endpoints(world)[0]?.["conditions"];

describe("EndpointSlices", () => {
  test("name the Service, its ports and its ready pods", async () => {
    const world = start();
    await run(world, "a", "10.0.0.1");
    const [slice] = world.list(tables.slices);
    expect(slice).toMatchObject({
      metadata: {
        generateName: "web-",
        labels: {
          ...{ team: "a", "kubernetes.io/service-name": "web" },
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        },
        ownerReferences: [{ kind: "Service", name: "web", controller: true }],
      },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    });
    expect(endpoints(world)).toMatchObject([
      {
        ...{ addresses: ["10.0.0.1"], nodeName: "n", targetRef: { kind: "Pod", name: "a", namespace: "default" } },
        conditions: { ready: true, serving: true, terminating: false },
      },
    ]);
  });

  test("say of a pod whether it is ready, and whether it still serves while it goes", async () => {
    const world = start();
    await run(world, "a", "10.0.0.1");
    world.run("a", false);
    await world.clock.advance(0);
    expect(conditions(world)).toEqual({ ready: false, serving: false, terminating: false });
    world.run("a");
    world.delete(tables.pods, "a");
    await world.clock.advance(0);
    expect(conditions(world)).toEqual({ ready: false, serving: true, terminating: true });
  });

  test("have one that is empty where there are no pods", async () => {
    const world = start();
    await world.clock.advance(0);
    expect(world.list(tables.slices)).toMatchObject([{ endpoints: [], ports: [] }]);
    await run(world, "a", "10.0.0.1");
    expect(world.list(tables.slices)).toMatchObject([{ endpoints: [{ addresses: ["10.0.0.1"] }] }]);
  });

  test("leave a pod that its labels no longer choose", async () => {
    const world = start();
    await run(world, "a", "10.0.0.1");
    world.update(tables.pods, "a", ({ metadata }) => ({ metadata: { ...metadata, labels: { app: "other" } } }));
    await world.clock.advance(0);
    expect(endpoints(world)).toEqual([]);
  });

  test("are apart for pods that mean different ports by one name", async () => {
    const world = start(service({ ports: [{ port: 80, targetPort: "web" }] }));
    for (const [name, containerPort] of [
      ["a", 8080],
      ["b", 9090],
    ] as const) {
      const containers = [{ name: "c", ports: [{ name: "web", containerPort }] }];
      await run(world, name, `10.0.0.${containerPort / 1010}`, { containers });
    }
    const ports = world.list(tables.slices).map((slice) => (slice["ports"] as Fields[])[0]?.["port"]);
    expect(ports.toSorted()).toEqual([8080, 9090]);
  });

  test("of others stay as they are, and a Service without a selector gets none", async () => {
    const world = start(service({ selector: {} }));
    const body = { metadata: { name: "mine", labels: { "kubernetes.io/service-name": "web" } }, addressType: "IPv4" };
    const { metadata } = world.create(tables.slices, { ...body, endpoints: [{ addresses: ["1.2.3.4"] }], ports: [] });
    await run(world, "a", "10.0.0.1");
    expect(world.list(tables.slices).map((slice) => slice.metadata.resourceVersion)).toEqual([
      metadata.resourceVersion,
    ]);
  });

  test("come back when somebody deletes them", async () => {
    const world = start();
    await run(world, "a", "10.0.0.1");
    world.delete(tables.slices, world.list(tables.slices)[0]?.metadata.name ?? "");
    await world.clock.advance(0);
    expect(endpoints(world)).toHaveLength(1);
  });
});
