import { expect, test } from "@jest/globals";
import { chooseNetwork } from "./network.ts";

test("a node's network is one that the machine has no route to", () => {
  const routes =
    "default via 10.0.2.2 dev eth0\n10.211.7.0/30 dev ek-1 scope link\n10.210.8.0/24 via 10.211.99.2 dev ek-2";
  expect(chooseNetwork(routes, () => 7 / 256)).toEqual({
    hostAddress: "10.211.9.1",
    nodeAddress: "10.211.9.2",
    podCidr: "10.210.9.0/24",
  });
});

test("after the last number comes the first", () => {
  expect(chooseNetwork("10.211.255.0/30 dev ek-1", () => 255 / 256).podCidr).toBe("10.210.0.0/24");
});

test("without a free network there is none", () => {
  const routes = Array.from({ length: 256 }, (_, number) => `10.211.${number}.0/30 dev ek-${number}`).join("\n");
  expect(() => chooseNetwork(routes)).toThrow("EK_CLUSTER_REAL_NODE");
});
