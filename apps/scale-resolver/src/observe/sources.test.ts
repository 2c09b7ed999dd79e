import { type EndpointSlice, type Service, Store } from "@evenkeel/kube";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { silence } from "../testing/loopback-rpc.ts";
import { stored } from "../testing/shown-service.ts";
import { podsOf, serviceEndpoints } from "./service-endpoints.ts";
import { serviceChanges } from "./sources.ts";

type Conditions = NonNullable<NonNullable<EndpointSlice["endpoints"]>[number]["conditions"]>;
const READY: Conditions = { ready: true, serving: true, terminating: false };
const LEAVING: Conditions = { ready: false, serving: true, terminating: true };

let slices: Store<EndpointSlice, "service">;
let enqueued: string[];
let busy: boolean;
let version: number;

beforeEach(() => {
  enqueued = [];
  busy = true;
  version = 0;
  slices = new Store({ log: silence, indexes: { service: () => ["shop/checkout"] } });
  const view = {
    bindings: { ownerOf: () => stored("checkout") },
    services: new Store<Service>({ log: silence }),
    slices,
    pods: () => podsOf(serviceEndpoints(slices.by("service", "shop/checkout"))),
  };
  for (const source of serviceChanges(view, () => busy)) source.subscribe((key) => enqueued.push(key));
});

function pods(...conditions: readonly Conditions[]): void {
  slices.put({
    metadata: {
      ...{ namespace: "shop", name: "checkout-a", resourceVersion: `${(version += 1)}` },
      labels: { "kubernetes.io/service-name": "checkout" },
    },
    addressType: "IPv4",
    endpoints: conditions.map((one, index) => ({ addresses: [`10.0.0.${index}`], conditions: one })),
    ports: [],
  });
}

describe("a change of a Service's pods", () => {
  test("is looked at once", () => {
    busy = false;
    pods(READY);
    expect(enqueued).toEqual(["shop/checkout"]);
  });

  test("is not reported while held requests are forwarded", () => {
    pods(READY, READY);
    pods(READY, LEAVING);
    expect(enqueued).toEqual([]);
  });

  test("after which no pod is ready is reported, although held requests are still forwarded", () => {
    pods(READY);
    pods(LEAVING);
    expect(enqueued).toEqual(["shop/checkout"]);
  });
});
