import type { Service } from "@evenkeel/kube";
import { describe, expect, test } from "@jest/globals";
import { unknownWakePorts, wakingPorts } from "./wake-ports.ts";

const service: Service = {
  metadata: { namespace: "shop", name: "checkout" },
  spec: {
    ports: [
      { name: "http", port: 80 },
      { name: "metrics", port: 9090, protocol: "TCP" },
      { name: "dns", port: 53, protocol: "UDP" },
    ],
  },
};

describe("wakePorts", () => {
  test.each([
    ["all ports, if there are none", [], [80, 9090], []],
    ["a port by its name", ["http"], [80], []],
    ["a port by its number", [9090], [9090], []],
    ["not a name that looks like a number", ["80"], [80, 9090], ["80"]],
    ["the ports that the Service has", ["http", "grpc"], [80], ["grpc"]],
    ["all ports, if the Service has none of them", ["htpp"], [80, 9090], ["htpp"]],
    ["no UDP port", [53, "http"], [80], [53]],
  ])("are %s", (_name, wanted, waking, unknown) => {
    expect(wakingPorts(wanted, service).map(({ port }) => port)).toEqual(waking);
    expect(unknownWakePorts(wanted, service)).toEqual(unknown);
  });
});
