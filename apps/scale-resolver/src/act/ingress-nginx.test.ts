import { readFileSync } from "node:fs";
import type { EndpointSlice, Service } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import { stored } from "../testing/shown-service.ts";
import { pathSlices } from "./path-plan.ts";
import { isInPortRange, type PortRange } from "./port-range.ts";

type ServicePort = NonNullable<NonNullable<Service["spec"]>["ports"]>[number];

/** The upstreams of one Service port by the rules of ingress-nginx, internal/ingress/controller/endpointslices.go. */
function upstreams(port: ServicePort, slices: readonly EndpointSlice[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { ports = [], endpoints = [] } of slices) {
    const numeric = typeof port.targetPort === "number" ? port.targetPort : 0;
    const targets = ports.map(({ name, port: number = 0 }) =>
      (port.name ?? "") === "" || port.name === name ? number : numeric,
    );
    for (const { addresses, conditions } of endpoints) {
      if (conditions?.ready !== true) continue;
      for (const target of targets)
        if (target !== 0) for (const address of addresses) found.add(`${address}:${target}`);
    }
  }
  return found;
}

/** The ports on which the chart lets the resolver itself listen. */
function ownPorts(): readonly string[] {
  const template = readFileSync(
    new URL("../../../../charts/scale-resolver/templates/_traffic.tpl", import.meta.url),
    "utf8",
  );
  return [...template.matchAll(/--(?:admin|health|grpc)-port=(\d+)/g)].map(([, port = ""]) => port);
}

const PORTS = [
  { name: "http", port: 20_000 },
  { name: "metrics", port: 20_001 },
];
const RESOLVER = { address: "10.0.0.9", family: "IPv4", replica: "resolver-1" } as const;
const RANGE: PortRange = { first: 20_000, last: 20_999 };

/** What ingress-nginx finds behind a Service that is redirected to the resolver. */
function found(targetPort: number): ReadonlySet<string> {
  const ports: ServicePort[] = [
    { name: "http", port: 80, targetPort },
    { name: "metrics", port: 81, targetPort: 9090 },
  ];
  const service: Service = { metadata: { namespace: "shop", name: "web" }, spec: { ipFamilies: ["IPv4"], ports } };
  const object = stored("web", { metadata: { namespace: "shop", name: "web", uid: "5a0e" } });
  const slices = pathSlices({ object, service, ports: PORTS, resolvers: [RESOLVER] }, "redirect");
  return new Set(ports.flatMap((port) => [...upstreams(port, slices)]));
}

/** Those that are ports of the resolver for other Services. */
function foreign(targetPort: number): readonly number[] {
  const ports = [...found(targetPort)].map((upstream) => Number(upstream.split(":")[1]));
  return ports.filter((port) => isInPortRange(port, RANGE) && !PORTS.some((own) => own.port === port));
}

test.each([80, 443, 3000, 5000, 8000, 8080, 8081, 8443, 9090, 9091, 9100])(
  "ingress-nginx finds no port of the resolver itself or of another Service behind a Service with two ports and targetPort %i",
  (targetPort) => {
    // The rules do lead to more than the Service's ports, which is why the chart uses ports that no Service has.
    expect(found(targetPort)).toContain(`10.0.0.9:${targetPort}`);
    expect(ownPorts()).toHaveLength(3);
    for (const port of ownPorts()) expect(found(targetPort)).not.toContain(`10.0.0.9:${port}`);
    expect(foreign(targetPort)).toEqual([]);
  },
);

test("ingress-nginx finds the port of another Service by a targetPort of the range, so such a Service is not redirected", () => {
  expect(foreign(20_500)).toEqual([20_500]);
});
