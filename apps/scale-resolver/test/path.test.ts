import { describe, expect, test } from "@jest/globals";
import { endpointSlices, type Service } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import { dataPlane } from "@evenkeel/sim";
import { PathProbe } from "../src/act/path-probe.ts";
import { PathSlices } from "../src/act/path-slices.ts";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { resolverEndpoints } from "../src/observe/resolver-endpoints.ts";
import { Cluster } from "./cluster.ts";
import { GateWorld } from "./gateway/gate-world.ts";
import { PodServer } from "./gateway/pod-server.ts";

const PODS = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: checkout-abc, labels: { kubernetes.io/service-name: checkout } }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.1], conditions: { ready: true } }, { addresses: [10.0.0.2], conditions: { ready: true } }]
ports: [{ name: http, port: 8080, protocol: TCP }]
---
{ apiVersion: v1, kind: Service, metadata: { name: checkout }, spec: { selector: { app: checkout }, ports: [{ name: http, port: 80 }] } }
`;

describe("the path of a Service that is routed as kube-proxy does", () => {
  test("is verified while the resolver has joined it, and not before or after", async () => {
    await using pod = await PodServer.start();
    await using world = await GateWorld.start();
    const listen = await world.put("default/checkout");
    const plane = dataPlane({
      locate: ({ address, port }) =>
        address.startsWith("10.0.0.") ? { host: pod.address, port: pod.port } : { host: address, port },
    });
    await using cluster = await Cluster.start({ behaviours: [plane.behaviour], manifests: PODS });
    const { host: address, port } = await plane.reach({
      ...{ node: "node-1", namespace: "default", service: "checkout", port: 80 },
    });
    const object = await cluster.kube.resource(elastiServices).create({
      metadata: { namespace: "default", name: "checkout" },
      spec: { service: "checkout", scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "checkout" } },
    });
    const path = new PathSlices({
      slices: cluster.kube.resource(endpointSlices),
      seen: { by: () => [].values() },
    });
    const connections = () => world.gate.connections("default/checkout", 80);
    const probe = new PathProbe({ clock: systemClock, random: Math.random, connections });
    const asked: Service = { metadata: {}, spec: { clusterIP: address, ports: [{ port }] } };
    const proved = (blind = false) => probe.prove(asked, { ready: 2, blind }, new AbortController().signal);
    const service: Service = {
      metadata: { namespace: "default", name: "checkout" },
      spec: { ports: [{ name: "http", port: 80 }] },
    };

    expect(await proved()).toBe(false);
    expect(pod.arrivals).toEqual([]);
    expect(await proved(true)).toBe(false);
    expect(pod.arrivals).toHaveLength(2);
    const ports = [{ name: "http", port: listen }];
    await path.join({ object, service, ports, resolvers: resolverEndpoints(null, ["127.0.0.1"]) });
    expect(await proved()).toBe(true);
    expect(pod.arrivals).toHaveLength(2);
    expect(world.gate.activity("default/checkout")).toMatchObject({ requests: 0, pending: 0 });
    await path.leave("default", "checkout");
    expect(await proved()).toBe(false);
  });
});
