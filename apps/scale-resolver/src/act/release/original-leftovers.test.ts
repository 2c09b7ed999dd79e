import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type EndpointSlice, endpointSlices, keyOf, type KubeObject, services } from "@evenkeel/kube";
import { Cluster } from "../../../test/cluster.ts";
import { OriginalLeftovers } from "./original-leftovers.ts";

const SLICE = "elasti-web-endpointslice-to-resolver-4b5e57f6eb";
const COPY = "elasti-web-pvt-4b5e57f6eb";
const { signal } = new AbortController();

/**
 * The leftovers of KubeElasti 0.1.21: a slice without a manager, and a copy with the ElastiService as its controller.
 */
const LEFT = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${SLICE}, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.7] }]
ports: [{ name: http, port: 8012, protocol: TCP }]
---
apiVersion: v1
kind: Service
metadata:
  name: ${COPY}
  ownerReferences: [{ apiVersion: elasti.truefoundry.com/v1alpha1, kind: ElastiService, name: web, uid: UID, controller: true, blockOwnerDeletion: true }]
spec: { selector: { app: web }, ports: [{ name: http, port: 80 }] }
`;

const KEPT = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-abc, labels: { kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io } }
addressType: IPv4
endpoints: []
ports: []
---
{ apiVersion: v1, kind: Service, metadata: { name: web }, spec: { selector: { app: web }, ports: [{ port: 80 }] } }
---
{ apiVersion: v1, kind: Service, metadata: { name: elasti-web-pvt-0123456789 }, spec: { ports: [{ port: 80 }] } }
`;

describe("leftovers of KubeElasti", () => {
  let cluster: Cluster;
  let seen: Map<string, KubeObject>;
  let leftovers: OriginalLeftovers;

  beforeEach(async () => {
    cluster = await Cluster.start({ manifests: KEPT });
    const owner = await cluster.kube.request({
      ...{ method: "POST", path: "/apis/elasti.truefoundry.com/v1alpha1/namespaces/default/elastiservices" },
      body: {
        ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService", metadata: { name: "web" } },
        spec: { service: "web", scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      },
    });
    cluster.server.load(LEFT.replace("UID", (owner as KubeObject).metadata.uid ?? ""));
    seen = new Map();
    leftovers = new OriginalLeftovers({
      slices: cluster.kube.resource(endpointSlices),
      services: cluster.kube.resource(services),
      sliceStore: { get: (key) => seen.get(`slice ${key}`) as EndpointSlice | undefined },
      serviceStore: { get: (key) => seen.get(`service ${key}`) },
    });
    await look();
    cluster.writes();
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  const look = async (): Promise<string[]> => {
    const found = {
      slice: (await cluster.kube.resource(endpointSlices).list()).items,
      service: (await cluster.kube.resource(services).list()).items,
    };
    seen = new Map(
      Object.entries(found).flatMap(([kind, items]) => items.map((item) => [`${kind} ${keyOf(item)}`, item])),
    );
    return [...seen.keys()].sort();
  };

  test("are deleted and logged, and nothing else", async () => {
    expect(await leftovers.clean("default", "web", { signal })).toEqual([
      expect.stringContaining(SLICE),
      expect.stringContaining(COPY),
    ]);
    expect(await look()).toEqual([
      "service default/elasti-web-pvt-0123456789",
      "service default/web",
      "slice default/web-abc",
    ]);
  });

  test("is not asked about when nothing of it was seen", async () => {
    await leftovers.clean("default", "web", { signal });
    await look();
    cluster.calls.length = 0;
    expect(await leftovers.clean("default", "web", { signal })).toEqual([]);
    expect(cluster.calls).toEqual([]);
  });

  test("are not logged if another client deleted them", async () => {
    await leftovers.clean("default", "web", { signal });
    expect(await leftovers.clean("default", "web", { signal })).toEqual([]);
  });

  test("do not include an object that was created again with the same name", async () => {
    await leftovers.clean("default", "web", { signal });
    cluster.server.load(LEFT.split("---", 1)[0] ?? "");
    expect(await leftovers.clean("default", "web", { signal })).toEqual([]);
    expect(await look()).toContain(`slice default/${SLICE}`);
  });

  test("is not what only has its name", async () => {
    const named = { namespace: "default", name: SLICE };
    const labels = { "endpointslice.kubernetes.io/managed-by": "mesh" };
    await cluster.kube.resource(endpointSlices).patch(named, { type: "merge", body: { metadata: { labels } } });
    const copy = { namespace: "default", name: COPY };
    const body = { metadata: { ownerReferences: null } };
    await cluster.kube.resource(services).patch(copy, { type: "merge", body });
    await look();
    expect(await leftovers.clean("default", "web", { signal })).toEqual([]);
    expect(await look()).toHaveLength(5);
  });

  test("stays, and is retried, where it may not be deleted now", async () => {
    const takeBack = cluster.faults.add({ verb: "delete", fault: { kind: "status", code: 500 } });
    await expect(leftovers.clean("default", "web", { signal })).rejects.toMatchObject({ recovery: "retryable" });
    takeBack();
    expect(await leftovers.clean("default", "web", { signal })).toHaveLength(2);
  });
});
