import { describe, expect, test } from "@jest/globals";
import type { EndpointSlice } from "@evenkeel/kube";
import { countReplicas, terminatingAddresses, resolverEndpoints, withoutSilent } from "./resolver-endpoints.ts";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

const slice = (endpoints: readonly Endpoint[], addressType = "IPv4"): EndpointSlice => ({
  metadata: { namespace: "evenkeel", name: `resolver-${addressType}` },
  addressType,
  endpoints,
});

const replica = (address: string, name: string, conditions: Endpoint["conditions"] = { ready: true }): Endpoint => ({
  ...{ addresses: [address], conditions, nodeName: `node-${name}` },
  targetRef: { kind: "Pod", namespace: "evenkeel", name, uid: `uid-${name}` },
});

describe("the addresses of the resolver", () => {
  test("are those of its ready pods, with where they run, in order", () => {
    expect(resolverEndpoints([slice([replica("10.0.0.2", "b"), replica("10.0.0.1", "a")])], ["127.0.0.1"])).toEqual([
      {
        ...{ family: "IPv4", address: "10.0.0.1", replica: "uid-a", nodeName: "node-a" },
        targetRef: { kind: "Pod", namespace: "evenkeel", name: "a", uid: "uid-a" },
      },
      {
        ...{ family: "IPv4", address: "10.0.0.2", replica: "uid-b", nodeName: "node-b" },
        targetRef: { kind: "Pod", namespace: "evenkeel", name: "b", uid: "uid-b" },
      },
    ]);
  });

  test("leave out a pod that is not ready, and one that goes although it is published as ready", () => {
    const endpoints = [
      replica("10.0.0.1", "a", { ready: false }),
      replica("10.0.0.2", "b", { ready: false, serving: true, terminating: true }),
      replica("10.0.0.3", "c", { ready: true, terminating: true }),
    ];
    expect(resolverEndpoints([slice(endpoints)], [])).toEqual([]);
  });

  test("include this replica before the kubelet has probed it, unless it goes", () => {
    const own = (conditions: Endpoint["conditions"]) =>
      resolverEndpoints(
        [slice([replica("10.0.0.1", "a", conditions), replica("10.0.0.2", "b", { ready: false })])],
        ["10.0.0.1", "fd00::1"],
      ).map(({ address }) => address);
    expect(own({ ready: false, serving: false, terminating: false })).toEqual(["10.0.0.1"]);
    expect(own({ ready: false, serving: true, terminating: true })).toEqual([]);
  });

  test("are of both families, and a pod that has both is one replica", () => {
    const slices = [slice([replica("fd00::1", "a")], "IPv6"), slice([replica("10.0.0.1", "a")])];
    const found = resolverEndpoints(slices, []);
    expect(found.map(({ family, address }) => [family, address])).toEqual([
      ["IPv4", "10.0.0.1"],
      ["IPv6", "fd00::1"],
    ]);
    expect(countReplicas(found)).toBe(1);
  });

  test("are listed once if two slices have the same", () => {
    expect(resolverEndpoints([slice([replica("10.0.0.1", "a")]), slice([replica("10.0.0.1", "a")])], [])).toHaveLength(
      1,
    );
  });

  test("are those of this replica where no Service is named, and none where that has no ready pod", () => {
    const own = resolverEndpoints(null, ["10.0.0.9", "fd00::9", "not an address"]);
    expect(own).toEqual([
      { family: "IPv4", address: "10.0.0.9", replica: "self" },
      { family: "IPv6", address: "fd00::9", replica: "self" },
    ]);
    expect(countReplicas(own)).toBe(1);
    expect(resolverEndpoints([], ["10.0.0.9"])).toEqual([]);
  });
});

test("replicas that leave are those that say so and still serve", () => {
  const endpoints = [
    replica("10.0.0.1", "a"),
    replica("10.0.0.2", "b", { ready: false, serving: true, terminating: true }),
    replica("10.0.0.3", "c", { ready: false, serving: false, terminating: true }),
    replica("10.0.0.4", "d", { ready: false, serving: false, terminating: false }),
  ];
  expect(terminatingAddresses([slice(endpoints)])).toEqual(new Set(["10.0.0.2"]));
  expect(terminatingAddresses(null)).toEqual(new Set());
});

test("a silent replica is left out, unless clients of a family would have none", () => {
  const four = slice([replica("10.0.0.1", "a"), replica("10.0.0.2", "b")]);
  const both = resolverEndpoints([four, slice([replica("fd00::2", "b")], "IPv6")], []);
  const left = (...silent: readonly string[]) => withoutSilent(both, new Set(silent)).map(({ address }) => address);
  expect(left()).toEqual(["10.0.0.1", "10.0.0.2", "fd00::2"]);
  expect(left("a")).toEqual(["10.0.0.2", "fd00::2"]);
  expect(left("b")).toEqual(["10.0.0.1", "fd00::2"]);
  expect(left("a", "b")).toEqual(["10.0.0.1", "10.0.0.2", "fd00::2"]);
  const nameless = resolverEndpoints(null, ["10.0.0.9"]);
  expect(withoutSilent(nameless, new Set(["a"]))).toEqual(nameless);
});
