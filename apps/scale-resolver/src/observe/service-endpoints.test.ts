import { describe, expect, test } from "@jest/globals";
import type { EndpointSlice } from "@evenkeel/kube";
import { podsOf, serviceEndpoints } from "./service-endpoints.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "./slice-labels.ts";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

const http = [{ name: "http", port: 8080, protocol: "TCP" }];

function slice(name: string, endpoints: readonly Endpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    metadata: { namespace: "shop", name, labels: { [SERVICE_NAME]: "web" } },
    addressType: "IPv4",
    endpoints,
    ports: http,
    ...more,
  };
}

function pod(address: string, name: string, conditions: Endpoint["conditions"] = { ready: true }): Endpoint {
  return { addresses: [address], conditions, targetRef: { kind: "Pod", namespace: "shop", name, uid: `uid-${name}` } };
}

describe("the pods behind a Service", () => {
  test("are those of its slices, with their ports by name", () => {
    const ports = [...http, { port: 9000 }, { name: "dns", port: 53, protocol: "UDP" }, { name: "open" }];
    expect(serviceEndpoints([slice("web-1", [pod("10.0.0.1", "a")], { ports })])).toEqual([
      {
        ...{ address: "10.0.0.1", pod: "a", uid: "uid-a", ready: true, serving: true, terminating: false },
        ports: { http: 8080, "": 9000 },
      },
    ]);
  });

  test("do not include the resolver, whether it is this one or KubeElasti's", () => {
    const own = slice("evenkeel-web-ipv4", [{ addresses: ["10.9.0.1"] }], {
      metadata: { name: "evenkeel-web-ipv4", labels: { [SERVICE_NAME]: "web", [MANAGED_BY]: MANAGER } },
    });
    const original = slice("elasti-web-endpointslice-to-resolver-4b5e57f6eb", [{ addresses: ["10.9.0.2"] }]);
    expect(serviceEndpoints([own, original, slice("web-1", [pod("10.0.0.1", "a")])])).toMatchObject([{ pod: "a" }]);
  });

  test("include those of a slice that only looks like KubeElasti's", () => {
    const named = slice("elasti-web-endpointslice-to-resolver-0123456789", [pod("10.0.0.1", "a")]);
    expect(serviceEndpoints([named])).toHaveLength(1);
  });

  test.each<[string, Endpoint["conditions"], [boolean, boolean, boolean]]>([
    ["is ready when nothing is said", undefined, [true, true, false]],
    ["is ready when its conditions are empty", {}, [true, true, false]],
    ["serves if it is ready and nothing else is said", { ready: true }, [true, true, false]],
    ["does not serve if it is not ready and nothing else is said", { ready: false }, [false, false, false]],
    ["still serves while it goes", { ready: false, serving: true, terminating: true }, [false, true, true]],
    ["is not ready while it goes, whatever is published", { ready: true, terminating: true }, [false, true, true]],
  ])("a pod %s", (_name, conditions, [ready, serving, terminating]) => {
    const endpoint = { addresses: ["10.0.0.1"], ...(conditions && { conditions }) };
    expect(serviceEndpoints([slice("web-1", [endpoint])])).toMatchObject([{ ready, serving, terminating }]);
  });

  test("are counted once when an address is in two slices, and are ready if one of them says so", () => {
    const stale = slice("web-1", [pod("10.0.0.1", "a", { ready: false })]);
    const fresh = slice("web-2", [pod("10.0.0.1", "a", { ready: true })], { ports: [{ name: "admin", port: 9000 }] });
    expect(serviceEndpoints([stale, fresh])).toMatchObject([
      { address: "10.0.0.1", ready: true, ports: { http: 8080, admin: 9000 } },
    ]);
  });

  test("are counted once if an address is in two slices and one of them has no pod reference", () => {
    const nameless = [{ addresses: ["10.0.0.1"] }];
    const named = [pod("10.0.0.1", "a")];
    expect(serviceEndpoints([slice("web-1", named), slice("web-2", nameless)])).toHaveLength(1);
    expect(serviceEndpoints([slice("web-1", nameless), slice("web-2", named)])).toHaveLength(1);
  });

  test("are two if a pod has the address of one that is still in a slice", () => {
    const old = slice("web-1", [pod("10.0.0.1", "a", { ready: false, terminating: true })]);
    const young = slice("web-2", [pod("10.0.0.1", "b")]);
    expect(serviceEndpoints([old, young])).toMatchObject([
      { pod: "a", ready: false },
      { pod: "b", ready: true },
    ]);
  });

  test("are terminating as soon as one of two slices says so", () => {
    const stale = slice("web-1", [pod("10.0.0.1", "a")]);
    const fresh = slice("web-2", [pod("10.0.0.1", "a", { ready: false, serving: true, terminating: true })]);
    expect(serviceEndpoints([stale, fresh])).toMatchObject([{ ready: false, serving: true, terminating: true }]);
  });

  test("are counted once with two families, under the IPv4 address, in any order of slices", () => {
    const four = slice("web-4", [pod("10.0.0.1", "a")]);
    const six = slice("web-0", [pod("fd00::1", "a")], { addressType: "IPv6" });
    for (const slices of [
      [four, six],
      [six, four],
    ])
      expect(serviceEndpoints(slices)).toMatchObject([{ address: "10.0.0.1", pod: "a" }]);
  });

  test("are none where a slice names hosts, or has neither endpoints nor addresses", () => {
    const hosts = slice("web-1", [{ addresses: ["example.com"] }], { addressType: "FQDN" });
    // The API server omits an empty list, although the type requires it.
    const bare = { metadata: { name: "web-2" }, addressType: "IPv4" } as EndpointSlice;
    expect(serviceEndpoints([hosts, bare, slice("web-3", [{ addresses: [] }])])).toEqual([]);
  });

  test("are ready, terminating, starting or removed", () => {
    const endpoints = serviceEndpoints([
      slice("web-1", [
        pod("10.0.0.1", "ready"),
        pod("10.0.0.2", "leaving", { ready: false, serving: true, terminating: true }),
        pod("10.0.0.3", "starting", { ready: false, serving: false, terminating: false }),
        pod("10.0.0.4", "gone", { ready: false, serving: false, terminating: true }),
      ]),
    ]);
    expect(podsOf(endpoints)).toEqual({ ready: 1, leaving: 1, starting: 1 });
  });
});
