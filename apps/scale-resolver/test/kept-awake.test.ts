import { once } from "node:events";
import { createServer } from "node:net";
import { leases, services } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 45 });
  world.metric = 0;
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const firstPort = () => Number(world.portRange.split("-")[0]);

/** Resolves when the object is not ready for that reason; with what it says. */
async function unready(name: string, reason: string): Promise<string> {
  return eventually(async () => {
    const condition = (await world.get(name)).status?.conditions?.find(({ type }) => type === "Ready");
    expect(condition).toMatchObject({ status: "False", reason });
    return condition?.message ?? "";
  });
}

describe("a service is not put to sleep", () => {
  test("while clients of one of its families would find no resolver", async () => {
    await world.workload("shop");
    const of = { namespace: "default", name: "shop" };
    const body = { spec: { ipFamilies: ["IPv4", "IPv6"] } };
    await world.kube.resource(services).patch(of, { type: "merge", body });
    world.serve();
    await world.elasti("shop");
    expect(await unready("shop", "NoResolver")).toMatch(/^No resolver is reached by IPv6, /);
    expect(await world.replicas("shop")).toBe(1);

    await world.kube.resource(services).patch(of, { type: "merge", body: { spec: { ipFamilies: ["IPv4"] } } });
    await world.inState("shop", "Zero");
  });

  test("while its port is another program's", async () => {
    const other = createServer().listen(firstPort(), "::");
    await once(other, "listening");
    try {
      for (const name of ["shop", "cart"]) await world.workload(name);
      world.serve();
      await world.elasti("shop");
      expect(await unready("shop", "NoResolver")).toMatch(/^The resolver could not listen on a port for the Service; /);
      await world.elasti("cart");
      await world.inState("cart", "Zero");
      expect(await world.replicas("shop")).toBe(1);
    } finally {
      other.close();
    }
  });

  test("while there is no port left for it, which its object says with what helps", async () => {
    for (const name of ["shop", "cart"]) await world.workload(name);
    world.serve([`--port-range=${firstPort()}-${firstPort()}`]);
    await world.elasti("shop");
    await world.inState("shop", "Zero");
    await world.elasti("cart");
    const message = await unready("cart", "PortsExhausted");
    expect(message).toMatch(/^Nothing is done: no port is free for default\/cart\/http: .* Give a wider --port-range/);
    expect(await world.replicas("cart")).toBe(1);
    // Nobody else has to do without for it.
    expect((await world.ask("shop")).status).toBe(200);
  });
});

test("an ElastiService with a selector selects nothing while KubeElasti's operator runs, and says so", async () => {
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
  await world.kube.resource(elastiServices).create({
    apiVersion: "elasti.truefoundry.com/v1alpha1",
    kind: "ElastiService",
    metadata: { namespace: "default", name: "all" },
    spec: { service: "*" },
  });
  expect(await unready("all", "OriginalRuns")).toContain("KubeElasti's operator runs");
  const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["all"]);
});
