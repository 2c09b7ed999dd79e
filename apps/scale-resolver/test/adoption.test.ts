import { endpointSlices, type KubeObject, leases, type ResourceTypeOf, services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, jest, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { originalPrivateServiceName, originalSliceName } from "../src/observe/original-names.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

/** The part of KEDA's definition that is needed to store its objects. */
const KEDA = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: scaledobjects.keda.sh }
spec:
  group: keda.sh
  scope: Namespaced
  names: { kind: ScaledObject, plural: scaledobjects, singular: scaledobject, listKind: ScaledObjectList }
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;
const scaledObjects: ResourceTypeOf<KubeObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};
const shop = { namespace: "default", name: "shop" };
const FINALIZER = "elasti.truefoundry.com/finalizer";
const IS_PAUSED = { "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0" };

/** Leftovers of KubeElasti for a service that it scaled to zero. */
async function leftBehind(): Promise<World> {
  const world = await World.start();
  world.api.load(KEDA);
  world.traffic.set("shop", 0);
  await world.workload("shop", 0);
  const elasti = await world.elasti("shop", { autoscaler: { type: "keda", name: "shop" } });
  const body = { metadata: { finalizers: [FINALIZER] } };
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body });
  const ports = [{ name: "http", port: 8080, protocol: "TCP" as const }];
  await world.kube.resource(endpointSlices).create({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace: "default",
      name: originalSliceName("shop"),
      labels: { "kubernetes.io/service-name": "shop" },
    },
    addressType: "IPv4",
    // A resolver of the original that no longer runs; it sets no conditions.
    endpoints: [{ addresses: ["127.0.0.77"] }],
    ports,
  });
  const { apiVersion = "", kind = "" } = elasti;
  await world.kube.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      namespace: "default",
      name: originalPrivateServiceName("shop"),
      ownerReferences: [{ apiVersion, kind, name: "shop", uid: elasti.metadata.uid ?? "", controller: true }],
    },
    spec: { selector: { app: "shop" }, ports: [{ name: "http", port: 8080, targetPort: 8080 }] },
  });
  await world.kube
    .resource(scaledObjects)
    .create({ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", metadata: { ...shop, annotations: IS_PAUSED } });
  return world;
}

async function annotations(world: World): Promise<Readonly<Record<string, string>>> {
  return (await world.kube.resource(scaledObjects).get(shop)).metadata.annotations ?? {};
}

async function serviceNames(world: World): Promise<readonly (string | undefined)[]> {
  const { items } = await world.kube.resource(services).list({ namespace: "default" });
  return items.map(({ metadata }) => metadata.name);
}

async function slices(world: World) {
  const labelSelector = "kubernetes.io/service-name=shop";
  const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
  // Those of the pods are not of interest.
  return items.filter(({ metadata }) => !metadata.generateName);
}

/** The operator's Lease, as its library writes it. */
async function lease(world: World, renewTime: Date, leaseDurationSeconds = 15): Promise<void> {
  await world.kube.resource(leases).create({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "default", name: "acf50383.truefoundry.io" },
    spec: {
      holderIdentity: "elasti-operator-7c9_0f",
      leaseDurationSeconds,
      renewTime: renewTime.toISOString().replace("Z", "000Z"),
    },
  });
}

describe("a service that KubeElasti left asleep", () => {
  test.concurrent("is adopted: its leftovers are removed, the next request wakes it, and KEDA is resumed", async () => {
    await using world = await leftBehind();
    // The operator is uninstalled. Its Lease remains.
    await lease(world, new Date(Date.now() - 2 * 86_400_000));
    const service = world.serve();
    await world.inState("shop", "Zero");
    await eventually(async () => {
      const names = (await slices(world)).map(({ metadata }) => metadata.name);
      expect(names).not.toContain(originalSliceName("shop"));
      expect(names).toContain("evenkeel-shop-ipv4");
    });
    await eventually(async () => expect(await serviceNames(world)).not.toContain(originalPrivateServiceName("shop")));
    expect(await world.replicas("shop")).toBe(0);
    expect(await annotations(world)).toMatchObject({ "autoscaling.keda.sh/paused": "true" });

    expect((await world.ask("shop")).status).toBe(200);
    expect(await world.replicas("shop")).toBe(1);
    await eventually(async () => expect(await annotations(world)).toEqual({ "autoscaling.keda.sh/paused": "false" }));
    expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);

    // Its finalizer is ours as well: it is removed with the object.
    await world.delete("shop");
    await world.isGone("shop");
    expect(await world.replicas("shop")).toBe(1);
  });

  test.concurrent("is not changed while the operator's Lease is renewed, and conditions say so", async () => {
    await using world = await leftBehind();
    await lease(world, new Date(), 60);
    const { spec } = await world.get("shop");
    const resource = world.kube.resource(elastiServices);
    // Its name makes it the younger one, if both were created in the same second.
    const second = { namespace: "default", name: "shop-too" };
    await resource.create({ metadata: second, spec });
    const target = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };
    const status = { service: "shop", scaleTargetRef: target, state: "Zero" };
    await resource.status.patch(second, { type: "merge", body: { status } });
    await world.create("all", { service: "*" });
    const service = world.serve();
    expect(await world.ready("shop", "OriginalRuns")).toMatchObject({ status: "False" });
    expect(await world.ready("shop-too", "Conflict")).toMatchObject({ status: "False" });
    expect((await world.get("shop-too")).status).toMatchObject(status);
    expect(await world.ready("all", "OriginalRuns")).toMatchObject({ status: "False" });
    const { items } = await resource.list({ namespace: "default" });
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(["all", "shop", "shop-too"]);
    const before = await slices(world);
    const decisions = async () => {
      const text = await (await fetch(await service.url("admin", "/metrics"))).text();
      return Number(/^evenkeel_decisions_total\{.*reason="OriginalRuns".*\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    // The leader has reconciled it several times with the same decision.
    await eventually(async () => expect(await decisions()).toBeGreaterThan(3));
    expect((await slices(world)).map(({ metadata }) => metadata.name)).toEqual([originalSliceName("shop")]);
    expect((await slices(world))[0]?.metadata.resourceVersion).toBe(before[0]?.metadata.resourceVersion);
    expect(await serviceNames(world)).toContain(originalPrivateServiceName("shop"));
    expect(await world.replicas("shop")).toBe(0);
    expect(await annotations(world)).toEqual(IS_PAUSED);
  });
});
