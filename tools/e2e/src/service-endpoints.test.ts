import { describe, expect, test } from "@jest/globals";
import { type EndpointSlice, servicePorts, type TrafficService } from "./service-endpoints.ts";

const web: TrafficService = {
  metadata: { name: "web", namespace: "shop" },
  spec: { clusterIP: "10.96.0.7", ports: [{ name: "http", port: 80 }] },
};

const READY = { ready: true, serving: true, terminating: false };
const ENDING = { ready: false, serving: true, terminating: true };
const STARTING = { ready: false, serving: false, terminating: false };
const DEAD = { ready: false, serving: false, terminating: true };

type Conditions = NonNullable<NonNullable<EndpointSlice["endpoints"]>[number]["conditions"]>;

function slice(endpoints: Readonly<Record<string, Conditions>>, more: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    metadata: { name: "web-1", namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: Object.entries(endpoints).map(([address, conditions]) => ({ addresses: [address], conditions })),
    ports: [{ name: "http", port: 8080 }],
    ...more,
  };
}

const places = (...slices: readonly EndpointSlice[]) =>
  servicePorts([web], slices).flatMap(({ endpoints }) => endpoints.map(({ address, port }) => `${address}:${port}`));

describe("connections go", () => {
  test.each<[title: string, endpoints: Readonly<Record<string, Conditions>>, places: readonly string[]]>([
    ["to those that are ready", { a: READY, b: READY }, ["a:8080", "b:8080"]],
    ["to no other where one is ready", { a: READY, b: ENDING, c: STARTING, d: DEAD }, ["a:8080"]],
    ["to those that serve while they end where none is ready", { a: ENDING, b: STARTING, c: DEAD }, ["a:8080"]],
    ["nowhere where none serves", { a: STARTING, b: DEAD }, []],
    ["to those of which nothing is said", { a: {} }, ["a:8080"]],
  ])("%s", (_title, endpoints, expected) => {
    expect(places(slice(endpoints))).toEqual(expected);
  });

  test("once to an endpoint that is in two slices", () => {
    expect(places(slice({ a: READY }), slice({ a: READY, b: READY }))).toEqual(["a:8080", "b:8080"]);
  });

  test("to the port that each slice has under the Service's name for it", () => {
    const other = slice({ b: READY }, { ports: [{ name: "http", port: 8012 }] });
    const unnamed = slice({ c: READY }, { ports: [{ port: 9 }] });
    expect(places(slice({ a: READY }), other, unnamed)).toEqual(["a:8080", "b:8012"]);
  });

  test("to no slice of another Service, another namespace or another family of addresses", () => {
    const label = (name: string) => ({ "kubernetes.io/service-name": name });
    const others = [
      slice({ a: READY }, { metadata: { name: "x", namespace: "shop", labels: label("api") } }),
      slice({ a: READY }, { metadata: { name: "x", namespace: "else", labels: label("web") } }),
      slice({ "fd00::1": READY }, { addressType: "IPv6" }),
    ];
    expect(places(...others)).toEqual([]);
  });
});

test("a slice of a Service without pods has null for endpoints and ports", () => {
  expect(places(slice({}, { endpoints: null, ports: null }))).toEqual([]);
});

test("a port without endpoints is there, and one of a headless Service or of UDP is not", () => {
  const headless = { ...web, spec: { ...web.spec, clusterIP: "None" } };
  const udp = { ...web, spec: { clusterIP: "10.96.0.8", ports: [{ port: 53, protocol: "UDP" }] } };
  expect(servicePorts([web, headless, udp], [])).toEqual([
    { name: "shop/web:80", clusterIP: "10.96.0.7", port: 80, endpoints: [] },
  ]);
});
