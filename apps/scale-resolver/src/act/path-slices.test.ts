import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type EndpointSlice, endpointSlices, kubeErrors, type Resource, type Service } from "@evenkeel/kube";
import { checkedResource } from "@evenkeel/operator";
import { Cluster } from "../../test/cluster.ts";
import { elastiServices, type StoredElastiService } from "../elasti-service-resource.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import type { ActOptions } from "./act-options.ts";
import type { PathInput } from "./path-plan.ts";
import { PathSlices } from "./path-slices.ts";

const PATH = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const four: ResolverEndpoint = { family: "IPv4", address: "10.0.0.1", replica: "a" };
const six: ResolverEndpoint = { family: "IPv6", address: "fd00::1", replica: "a" };

const service = (spec: Service["spec"] = {}): Service => ({
  metadata: { namespace: "default", name: "web" },
  spec: { ports: [{ name: "http", port: 80 }], ipFamilies: ["IPv4"], ...spec },
});

const OTHERS = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-abc, labels: { kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io } }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.9] }]
ports: [{ name: http, port: 8080 }]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: evenkeel-shop-ipv4, labels: { kubernetes.io/service-name: shop, endpointslice.kubernetes.io/managed-by: scale-resolver.evenkeel.io } }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.1] }]
ports: [{ name: http, port: 20001 }]
`;

describe("the path of a Service", () => {
  let cluster: Cluster;
  let slices: Resource<EndpointSlice>;
  let object: StoredElastiService;
  let seen: readonly EndpointSlice[];
  let path: PathSlices;

  beforeEach(async () => {
    cluster = await Cluster.start({ manifests: OTHERS });
    slices = cluster.kube.resource(endpointSlices);
    object = await cluster.kube.resource(elastiServices).create({
      metadata: { namespace: "default", name: "web" },
      spec: { service: "web", scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
    });
    seen = [];
    const by = (_index: "service", key: string) =>
      seen
        .filter(({ metadata }) => `${metadata.namespace}/${metadata.labels?.["kubernetes.io/service-name"]}` === key)
        .values();
    path = new PathSlices({ slices, seen: { by } });
    cluster.writes();
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const input = (parts: Partial<PathInput> = {}): PathInput => ({
    ...{ object, service: service(), ports: [{ name: "http", port: 20_000 }], resolvers: [four] },
    ...parts,
  });
  const look = async () => (seen = (await slices.list({ namespace: "default" })).items);
  const names = async () => (await look()).map(({ metadata }) => metadata.name).sort();
  const get = (name: string) => slices.get({ namespace: "default", name });

  test.each([true, false])("names the pod of the resolver if that is wanted: %s", async (targetRef) => {
    const pod = { kind: "Pod", namespace: "evenkeel-system", name: "resolver-1", uid: "p1" };
    const own = new PathSlices({ slices, seen: { by: () => [].values() }, namesPod: () => Promise.resolve(targetRef) });
    await own.join(input({ resolvers: [{ ...four, nodeName: "n1", targetRef: pod }] }));
    const { endpoints } = await get("evenkeel-web-ipv4");
    expect(endpoints).toMatchObject([{ addresses: ["10.0.0.1"], nodeName: "n1" }]);
    expect(endpoints?.[0]?.targetRef?.name).toBe(targetRef ? "resolver-1" : undefined);
  });

  test("is repointed where it exists, and never created again", async () => {
    const other: ResolverEndpoint = { ...four, address: "10.0.0.2", replica: "b" };
    await path.repoint(input());
    expect(await names()).not.toContain("evenkeel-web-ipv4");
    await path.join(input());
    await look();
    cluster.writes();
    await path.repoint(input());
    expect(cluster.writes()).toEqual([]);
    await path.repoint(input({ resolvers: [other] }));
    expect((await get("evenkeel-web-ipv4")).endpoints).toMatchObject([{ addresses: ["10.0.0.2"] }]);
    expect((await get("web-abc")).endpoints).toMatchObject([{ addresses: ["10.0.0.9"] }]);
    // The cache still has the path, which another reconcile has just left.
    await look();
    await path.leave("default", "web");
    await path.repoint(input());
    expect((await slices.list({ namespace: "default" })).items.map(({ metadata }) => metadata.name)).not.toContain(
      "evenkeel-web-ipv4",
    );
  });

  test("is joined by slices in addition to those of the pods, and left by deleting exactly those", async () => {
    expect(path.useOf("default", "web")).toBe(undefined);
    expect(await path.join(input())).toBe(true);
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "evenkeel-web-ipv4", "web-abc"]);
    expect(path.useOf("default", "web")).toBe("redirect");
    await path.leave("default", "web");
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "web-abc"]);
    expect(path.useOf("default", "web")).toBe(undefined);
    cluster.writes();
    await path.leave("default", "web");
    expect(cluster.writes()).toEqual([]);
  });

  const conditions = async () => (await get("evenkeel-web-ipv4")).endpoints?.map(({ conditions: of }) => of);
  const REDIRECT = { ready: true, serving: true, terminating: false };
  const STANDBY = { ready: false, serving: true, terminating: true };

  test("has the resolver as an endpoint for when no pod is ready, until it is joined and after it is withdrawn", async () => {
    expect(await path.standBy(input())).toBe(true);
    expect(await conditions()).toEqual([STANDBY]);
    await look();
    expect(path.useOf("default", "web")).toBe("standby");
    cluster.calls.length = 0;
    expect(await path.standBy(input())).toBe(false);
    expect(cluster.calls).toEqual([]);
    expect(await path.join(input())).toBe(true);
    expect(await conditions()).toEqual([REDIRECT]);
    // The cache does not have the join yet.
    expect(await path.withdraw(input())).toBe(true);
    expect(await conditions()).toEqual([STANDBY]);
    expect(cluster.writes()).toEqual([`PUT ${PATH}/evenkeel-web-ipv4`, `PUT ${PATH}/evenkeel-web-ipv4`]);
    await path.leave("default", "web");
    expect(await names()).not.toContain("evenkeel-web-ipv4");
  });

  test("is not read again while the resolver stands by, nor is its namespace", async () => {
    const pod = { kind: "Pod", namespace: "evenkeel-system", name: "resolver-1", uid: "p1" };
    const named = input({ resolvers: [{ ...four, targetRef: pod }] });
    let reads = 0;
    const namesPod = () => Promise.resolve(reads++ > 0);
    const by = () => seen.filter(({ metadata }) => metadata.name === "evenkeel-web-ipv4").values();
    const own = new PathSlices({ slices, seen: { by }, namesPod });
    expect(await own.standBy(named)).toBe(true);
    await look();
    cluster.calls.length = 0;
    expect(await own.standBy(named)).toBe(false);
    expect([reads, cluster.calls]).toEqual([1, []]);
    expect(await own.join(named)).toBe(true);
    expect((await get("evenkeel-web-ipv4")).endpoints?.[0]?.targetRef?.name).toBe("resolver-1");
  });

  test("keeps its use when it is repointed, also if it was joined a moment before", async () => {
    const other = input({ resolvers: [{ ...four, address: "10.0.0.2", replica: "b" }] });
    await path.standBy(input());
    await look();
    await path.repoint(other);
    expect(await conditions()).toEqual([STANDBY]);
    // The cache does not have the join yet.
    await path.join(input());
    await path.repoint(other);
    expect(await conditions()).toEqual([REDIRECT]);
    expect((await get("evenkeel-web-ipv4")).endpoints).toMatchObject([{ addresses: ["10.0.0.2"] }]);
  });

  test("is neither joined nor left if the ElastiService changed since the reconcile began", async () => {
    const lastLook = () => {
      throw new kubeErrors.ActOvertaken({ object: "default/web", why: "changed" });
    };
    const options: ActOptions = { checked: (resource) => checkedResource(resource, lastLook) };
    await expect(path.join(input(), options)).rejects.toBeInstanceOf(kubeErrors.ActOvertaken);
    await path.join(input());
    cluster.writes();
    await expect(path.leave("default", "web", options)).rejects.toBeInstanceOf(kubeErrors.ActOvertaken);
    expect(cluster.writes()).toEqual([]);
  });

  test("is left also where nothing of it was seen yet", async () => {
    await path.join(input());
    seen = [];
    await path.leave("default", "web");
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "web-abc"]);
  });

  test("is not written again while it is as it should be, whether that was seen or not", async () => {
    await path.join(input());
    expect(cluster.writes()).toEqual([`POST ${PATH}`]);
    expect(await path.join(input())).toBe(false);
    expect(cluster.writes()).toEqual([]);
    await look();
    cluster.calls.length = 0;
    expect(await path.join(input())).toBe(false);
    expect(cluster.calls).toEqual([]);
  });

  test("follows the resolver's replicas", async () => {
    await path.join(input());
    await look();
    const more = input({ resolvers: [four, { ...four, address: "10.0.0.2", replica: "b" }] });
    await path.join(more);
    expect((await get("evenkeel-web-ipv4")).endpoints?.map(({ addresses }) => addresses)).toEqual([
      ["10.0.0.1"],
      ["10.0.0.2"],
    ]);
    await look();
    expect(await path.join(more)).toBe(false);
    await path.join(input({ resolvers: [] }));
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "web-abc"]);
  });

  test("is closed where no resolver takes requests, though it is not left, and opened by the next join", async () => {
    const both = input({ resolvers: [four, { ...four, address: "10.0.0.2", replica: "b" }] });
    const ready = async () => (await get("evenkeel-web-ipv4")).endpoints?.map(({ conditions }) => conditions?.ready);
    await path.join(both);
    await look();
    await path.close(service(), new Set(["10.0.0.2"]));
    expect(await ready()).toEqual([false, true]);
    await look();
    await path.close(service(), new Set());
    expect(await ready()).toEqual([false, false]);
    await look();
    expect(path.useOf("default", "web")).toBe("redirect");
    cluster.calls.length = 0;
    await path.close(service(), new Set());
    expect(cluster.calls).toEqual([]);
    expect(await path.join(both)).toBe(true);
    expect(await ready()).toEqual([true, true]);
  });

  test("is not there to be closed before it was joined", async () => {
    await path.close(service(), new Set());
    expect(cluster.calls).toEqual([]);
  });

  test("follows a change of families, and deletes old slices", async () => {
    await path.join(input({ service: service({ ipFamilies: ["IPv4", "IPv6"] }), resolvers: [four, six] }));
    expect(await names()).toContain("evenkeel-web-ipv6");
    await path.join(input({ service: service({ ipFamilies: ["IPv6"] }), resolvers: [four, six] }));
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "evenkeel-web-ipv6", "web-abc"]);
    await path.leave("default", "web");
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "web-abc"]);
  });

  test("keeps another client's label on its slice", async () => {
    await path.join(input());
    const body = { metadata: { labels: { team: "shop" } } };
    await slices.patch({ namespace: "default", name: "evenkeel-web-ipv4" }, { type: "merge", body });
    await path.join(input({ ports: [{ name: "http", port: 20_005 }] }));
    expect(await get("evenkeel-web-ipv4")).toMatchObject({
      metadata: { labels: { team: "shop" } },
      ports: [{ port: 20_005 }],
    });
  });

  test("is joined although another client writes at the same time", async () => {
    await path.join(input());
    const other = input({ ports: [{ name: "http", port: 20_005 }] });
    const writers = ["a", "b", "c"].map(async (who) => {
      const body = { metadata: { annotations: { who } } };
      await slices.patch({ namespace: "default", name: "evenkeel-web-ipv4" }, { type: "merge", body });
    });
    await Promise.all([...writers, path.join(other), path.join(other)]);
    expect((await get("evenkeel-web-ipv4")).ports).toMatchObject([{ port: 20_005 }]);
  });

  test("is joined though another leader created the slice a moment before", async () => {
    await Promise.all([path.join(input()), path.join(input())]);
    expect(await names()).toContain("evenkeel-web-ipv4");
  });

  test("is not joined if another controller manages a slice of that name", async () => {
    cluster.server.load(
      "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: evenkeel-web-ipv4, labels: {endpointslice.kubernetes.io/managed-by: mesh}}, addressType: IPv4, endpoints: [], ports: []}",
    );
    await expect(path.join(input())).rejects.toMatchObject({
      code: "EK_RESOLVER_SLICE_NAME_TAKEN",
      message: expect.stringContaining("mesh"),
    });
    await path.leave("default", "web");
    expect(await names()).toContain("evenkeel-web-ipv4");
  });

  test("is not joined if the namespace does not exist, which fails at once", async () => {
    const elsewhere = { ...service(), metadata: { namespace: "gone", name: "web" } };
    const owner = { ...object, metadata: { ...object.metadata, namespace: "gone" } };
    await expect(path.join(input({ service: elsewhere, object: owner }))).rejects.toMatchObject({
      code: "EK_KUBE_NOT_FOUND",
    });
    expect(cluster.writes()).toHaveLength(1);
  });

  test("goes with its ElastiService", async () => {
    await path.join(input());
    await cluster.kube.resource(elastiServices).delete({ namespace: "default", name: "web" });
    const gone = async (): Promise<boolean> => !(await names()).includes("evenkeel-web-ipv4");
    while (!(await gone())) await new Promise(setImmediate);
    expect(await names()).toEqual(["evenkeel-shop-ipv4", "web-abc"]);
  });
});
