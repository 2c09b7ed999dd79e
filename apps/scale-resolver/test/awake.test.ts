import { once } from "node:events";
import { createServer } from "node:net";
import { leases, services } from "@evenkeel/kube";
import { describe, expect, jest, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

const firstPort = (world: World) => Number(world.portRange.split("-")[0]);

async function idle(world: World, name: string): Promise<void> {
  world.traffic.set(name, 0);
  await world.elasti(name);
}

describe("a service is not scaled to zero", () => {
  test.concurrent("while clients of one of its IP families would find no resolver", async () => {
    await using world = await World.start();
    await world.workload("shop");
    const families = async (...ipFamilies: readonly string[]) => {
      const body = { spec: { ipFamilies } };
      await world.kube.resource(services).patch({ namespace: "default", name: "shop" }, { type: "merge", body });
    };
    await families("IPv4", "IPv6");
    world.serve();
    await idle(world, "shop");
    const { status, message } = await world.ready("shop", "NoResolver");
    expect([status, message]).toEqual(["False", expect.stringContaining("IPv6")]);
    expect(await world.replicas("shop")).toBe(1);

    await families("IPv4");
    await world.inState("shop", "Zero");
  });

  test.concurrent("while its port is another program's", async () => {
    await using world = await World.start();
    await using other = createServer().listen(firstPort(world), "::");
    await once(other, "listening");
    for (const name of ["shop", "cart"]) await world.workload(name);
    world.serve();
    await idle(world, "shop");
    const { status, message } = await world.ready("shop", "NoResolver");
    expect([status, message]).toEqual(["False", expect.stringContaining("port")]);
    await idle(world, "cart");
    await world.inState("cart", "Zero");
    expect(await world.replicas("shop")).toBe(1);
  });

  test.concurrent("while no port is left for it, which its object says with what to do", async () => {
    await using world = await World.start();
    for (const name of ["shop", "cart"]) await world.workload(name);
    world.serve([`--port-range=${firstPort(world)}-${firstPort(world)}`]);
    await idle(world, "shop");
    await world.inState("shop", "Zero");
    await idle(world, "cart");
    const { status, message } = await world.ready("cart", "PortsExhausted");
    expect(status).toBe("False");
    expect(message).toContain("default/cart/http");
    expect(message).toContain("--port-range");
    expect(await world.replicas("cart")).toBe(1);
    // Other services are not affected.
    expect((await world.ask("shop")).status).toBe(200);
  });
});

test("a service whose workload does not exist says so, takes no requests, and is managed once there is one", async () => {
  await using world = await World.start();
  world.serve();
  await world.workload("shop", 0);
  await world.elasti("shop", {
    triggers: undefined,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "shp" },
  });
  expect(await world.ready("shop", "TargetNotFound")).toMatchObject({
    status: "False",
    message: expect.stringContaining("default/shp"),
  });
  expect(await world.resolverSlices("shop")).toEqual([]);
  await world.edit("shop", { scaleTargetRef: { name: "shop" } });
  await world.sleeps("shop");
  expect((await world.ask("shop")).status).toBe(200);
  const drain = (await world.get("shop")).status?.conditions?.find(({ type }) => type === "PodsDrain");
  expect(drain).toMatchObject({ status: "Unknown", reason: "NoPreStop" });
});

test("an ElastiService with a selector selects nothing while KubeElasti's operator runs, and says so", async () => {
  await using world = await World.start();
  await world.workload("shop");
  await world.kube.resource(leases).create({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "default", name: "acf50383.truefoundry.io" },
    spec: {
      holderIdentity: "elasti-operator-7c9_0f",
      leaseDurationSeconds: 15,
      renewTime: new Date().toISOString().replace("Z", "000Z"),
    },
  });
  world.serve();
  await world.create("all", { service: "*" });
  expect(await world.ready("all", "OriginalRuns")).toMatchObject({ status: "False" });
  const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["all"]);
});
