import { endpointSlices, type KubeObject, leases, type ResourceTypeOf, services } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { originalPrivateServiceName, originalSliceName } from "../src/observe/original-names.ts";
import { eventually, World } from "./world.ts";

/** As much of KEDA's definition as it takes to store its objects. */
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

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 15 });
  world.api.load(KEDA);
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** What KubeElasti leaves of a service that it put to sleep. */
async function leftBehind(): Promise<void> {
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
    // A resolver of the original that is no more; it sets no conditions.
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
  const annotations = { "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0" };
  await world.kube
    .resource(scaledObjects)
    .create({ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", metadata: { ...shop, annotations } });
}

async function annotations(): Promise<Readonly<Record<string, string>>> {
  return (await world.kube.resource(scaledObjects).get(shop)).metadata.annotations ?? {};
}

async function slices() {
  const labelSelector = "kubernetes.io/service-name=shop";
  const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
  // Those of the pods are not of interest.
  return items.filter(({ metadata }) => !metadata.generateName);
}

/** The operator's Lease, as its library writes it. */
async function lease(renewTime: Date, leaseDurationSeconds = 15): Promise<void> {
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
  test("is adopted: its leftovers go, the next request wakes it, and KEDA goes on", async () => {
    await leftBehind();
    world.metric = 0;
    const service = world.serve();
    await world.inState("shop", "Zero");
    await eventually(async () => {
      const names = (await slices()).map(({ metadata }) => metadata.name);
      expect(names).not.toContain(originalSliceName("shop"));
      expect(names).toContain("evenkeel-shop-ipv4");
    });
    await eventually(async () => {
      const { items } = await world.kube.resource(services).list({ namespace: "default" });
      expect(items.map(({ metadata }) => metadata.name)).not.toContain(originalPrivateServiceName("shop"));
    });
    expect(await world.replicas("shop")).toBe(0);
    expect(await annotations()).toMatchObject({ "autoscaling.keda.sh/paused": "true" });

    const answer = await world.ask("shop");
    expect(answer.status).toBe(200);
    expect(await world.replicas("shop")).toBe(1);
    await eventually(async () => expect(await annotations()).toEqual({ "autoscaling.keda.sh/paused": "false" }));
    expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);

    // Its finalizer is ours as well: it goes when the object does.
    await world.kube.resource(elastiServices).delete(shop);
    await eventually(async () => {
      expect((await world.kube.resource(elastiServices).list({ namespace: "default" })).items).toEqual([]);
    });
    expect(await world.replicas("shop")).toBe(1);
  });

  test("is left alone while its operator's Lease is renewed, and the condition says so", async () => {
    await leftBehind();
    await lease(new Date());
    world.metric = 0;
    world.serve();
    await eventually(async () => {
      const { status } = await world.get("shop");
      const condition = status?.conditions?.find(({ type }) => type === "Ready");
      expect(condition).toMatchObject({ status: "False", reason: "OriginalRuns" });
      expect(condition?.message).toContain("KubeElasti's operator runs");
    });
    const before = await slices();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect((await slices()).map(({ metadata }) => metadata.name)).toEqual([originalSliceName("shop")]);
    expect((await slices())[0]?.metadata.resourceVersion).toBe(before[0]?.metadata.resourceVersion);
    const { items } = await world.kube.resource(services).list({ namespace: "default" });
    expect(items.map(({ metadata }) => metadata.name)).toContain(originalPrivateServiceName("shop"));
    expect(await world.replicas("shop")).toBe(0);
    expect(await annotations()).toEqual({
      "autoscaling.keda.sh/paused": "true",
      "autoscaling.keda.sh/paused-replicas": "0",
    });
  });

  test("is not given back by a second ElastiService either while that Lease is renewed, which says whose it is", async () => {
    await leftBehind();
    await lease(new Date(), 60);
    const { spec } = await world.get("shop");
    const resource = world.kube.resource(elastiServices);
    // By name the younger one, if both are of the same second.
    const second = { namespace: "default", name: "shop-too" };
    await resource.create({ metadata: second, spec });
    const target = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };
    const status = { service: "shop", scaleTargetRef: target, state: "Zero" };
    await resource.status.patch(second, { type: "merge", body: { status } });
    world.serve();
    await eventually(async () => {
      const condition = (await world.get("shop-too")).status?.conditions?.find(({ type }) => type === "Ready");
      expect(condition).toMatchObject({ status: "False", reason: "Conflict" });
    });
    expect((await world.get("shop-too")).status).toMatchObject(status);
    expect(await world.replicas("shop")).toBe(0);
  });

  test("is adopted once that Lease has run out", async () => {
    await leftBehind();
    // Clocks differ: it is believed until it was seen not to be renewed for as long.
    await lease(new Date(Date.now() - 60_000), 2);
    world.metric = 0;
    world.serve();
    await world.inState("shop", "Zero", 30_000);
    expect((await world.ask("shop")).status).toBe(200);
  });
});
