import { describe, expect, test } from "@jest/globals";
import type { Service } from "@evenkeel/kube";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import { closedSlice, hasSameEndpoints, leftOutFamilies, type PathInput, pathSlices, useOf } from "./path-plan.ts";

const object = {
  ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService" },
  metadata: { namespace: "shop", name: "web-sleeps", uid: "uid-1" },
};

const service = (spec: Service["spec"] = {}): Service => ({
  metadata: { namespace: "shop", name: "web" },
  spec: { ports: [{ name: "http", port: 80 }], ipFamilies: ["IPv4"], ...spec },
});

const four: ResolverEndpoint = { family: "IPv4", address: "10.0.0.1", replica: "a", nodeName: "node-1" };
const six: ResolverEndpoint = { family: "IPv6", address: "fd00::1", replica: "a" };

const input = (parts: Partial<PathInput> = {}): PathInput => ({
  ...{ object, service: service(), ports: [{ name: "http", port: 20_000 }], resolvers: [four] },
  ...parts,
});

const redirecting = (parts: Partial<PathInput> = {}) => pathSlices(input(parts), "redirect");

describe("the resolver's slices of a Service", () => {
  test("have labels, an owner, ports and ready endpoints of the resolver", () => {
    expect(redirecting()).toEqual([
      {
        ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
        metadata: {
          ...{ namespace: "shop", name: "evenkeel-web-ipv4" },
          labels: {
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "scale-resolver.evenkeel.io",
          },
          ownerReferences: [
            {
              ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService" },
              ...{ name: "web-sleeps", uid: "uid-1", controller: false, blockOwnerDeletion: false },
            },
          ],
        },
        addressType: "IPv4",
        endpoints: [
          {
            ...{ addresses: ["10.0.0.1"], nodeName: "node-1" },
            conditions: { ready: true, serving: true, terminating: false },
          },
        ],
        ports: [{ name: "http", port: 20_000, protocol: "TCP" }],
      },
    ]);
  });

  test("have every TCP port that the resolver has a port for, with what it speaks", () => {
    const ports = [
      { name: "http", port: 80, appProtocol: "kubernetes.io/h2c" },
      { name: "admin", port: 81, protocol: "TCP" },
      { name: "new", port: 82 },
      { name: "dns", port: 53, protocol: "UDP" },
    ];
    const given = ["http", "admin", "dns"].map((name, index) => ({ name, port: 20_000 + index }));
    const [slice] = redirecting({ service: service({ ports }), ports: given });
    expect(slice?.ports).toEqual([
      { name: "http", port: 20_000, protocol: "TCP", appProtocol: "kubernetes.io/h2c" },
      { name: "admin", port: 20_001, protocol: "TCP" },
    ]);
  });

  test("support a port without a name", () => {
    const [slice] = redirecting({ service: service({ ports: [{ port: 80 }] }), ports: [{ name: "", port: 20_007 }] });
    expect(slice?.ports).toEqual([{ name: "", port: 20_007, protocol: "TCP" }]);
  });

  test("are one for each family that the Service has", () => {
    const both = service({ ipFamilies: ["IPv6", "IPv4"] });
    const slices = redirecting({ service: both, resolvers: [four, six] });
    expect(slices.map(({ metadata, addressType, endpoints }) => [metadata.name, addressType, endpoints])).toEqual([
      ["evenkeel-web-ipv6", "IPv6", [expect.objectContaining({ addresses: ["fd00::1"] })]],
      ["evenkeel-web-ipv4", "IPv4", [expect.objectContaining({ addresses: ["10.0.0.1"] })]],
    ]);
    expect(redirecting({ resolvers: [four, six] })).toHaveLength(1);
  });

  test("leave out a family in which no resolver is reached, which is said", () => {
    const both = service({ ipFamilies: ["IPv4", "IPv6"] });
    expect(redirecting({ service: both })).toHaveLength(1);
    expect(leftOutFamilies(both, [four])).toEqual(["IPv6"]);
    expect(leftOutFamilies(both, [four, six])).toEqual([]);
  });

  test("go by the Service's address where its families are not said", () => {
    const unsaid = { ...service(), spec: { clusterIP: "fd00::a", ports: [{ name: "http", port: 80 }] } };
    expect(redirecting({ service: unsaid, resolvers: [four, six] })).toMatchObject([{ addressType: "IPv6" }]);
  });

  test("are none without a resolver, or without a port", () => {
    expect(redirecting({ resolvers: [] })).toEqual([]);
    expect(redirecting({ ports: [] })).toEqual([]);
  });

  test("name the resolver as an endpoint that nodes use only while no pod is ready, if it stands by", () => {
    const [slice] = pathSlices(input(), "standby");
    expect(slice?.endpoints).toMatchObject([
      { addresses: ["10.0.0.1"], conditions: { ready: false, serving: true, terminating: true } },
    ]);
    expect(slice && useOf(slice)).toBe("standby");
    expect(redirecting().map(useOf)).toEqual(["redirect"]);
  });

  test.each(["redirect", "standby"] as const)("keep their use, which is %s, when no endpoint is usable", (use) => {
    const [slice] = pathSlices(input(), use).map((open) => closedSlice(open, new Set()));
    expect(slice?.endpoints).toMatchObject([{ conditions: { ready: false, serving: false } }]);
    expect(slice && useOf(slice)).toBe(use);
  });

  test("hold a hundred endpoints each", () => {
    const resolvers = Array.from({ length: 201 }, (_, n) => ({ ...four, address: `10.0.1.${n}`, replica: `${n}` }));
    const slices = redirecting({ resolvers });
    expect(slices.map(({ metadata, endpoints }) => [metadata.name, endpoints?.length])).toEqual([
      ["evenkeel-web-ipv4", 100],
      ["evenkeel-web-ipv4-1", 100],
      ["evenkeel-web-ipv4-2", 1],
    ]);
  });

  test("are equal with any further fields of the API server and other clients", () => {
    const [slice] = redirecting();
    if (slice === undefined) throw new Error("there is none");
    const labels = { ...slice.metadata.labels, team: "shop" };
    const stored = { ...slice, metadata: { ...slice.metadata, labels, uid: "uid-2", resourceVersion: "7" } };
    expect(hasSameEndpoints(slice, stored)).toBe(true);
  });

  test.each<[string, Partial<PathInput>]>([
    ["another address", { resolvers: [{ ...four, address: "10.0.0.2" }] }],
    ["another node", { resolvers: [{ ...four, nodeName: "node-2" }] }],
    ["another port", { ports: [{ name: "http", port: 20_001 }] }],
    ["another owner", { object: { ...object, metadata: { ...object.metadata, uid: "uid-9" } } }],
  ])("are not equal with %s", (_name, change) => {
    const [[one], [other]] = [redirecting(), redirecting(change)];
    expect(one && other && hasSameEndpoints(one, other)).toBe(false);
  });
});
