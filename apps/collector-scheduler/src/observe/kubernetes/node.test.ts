import { describe, expect, test } from "@jest/globals";
import type { Node } from "@evenkeel/kube";
import { shown, surroundingsOf } from "../../../test/surroundings-of.ts";
import { nodeGroup } from "./node.ts";

const group = (node: Omit<Node, "metadata">) =>
  shown(
    nodeGroup({ metadata: { name: "n1", labels: { zone: "a" }, annotations: { x: "1" } }, ...node }, surroundingsOf()),
  );
const daemonEndpoints = { kubeletEndpoint: { Port: 10_250 } };

describe("role node", () => {
  test("has the kubelet of a node, its conditions and the first address of each type", () => {
    const addresses = [
      { type: "Hostname", address: "n1.example.com" },
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "InternalIP", address: "2001:db8::1" },
    ];
    const conditions = [
      { type: "Ready", status: "True" },
      { type: "MemoryPressure", status: "False" },
      { type: "example.com/Odd", status: "Unknown" },
    ];
    expect(group({ spec: { providerID: "aws:///i-1" }, status: { addresses, conditions, daemonEndpoints } })).toEqual({
      source: "node/n1",
      labels: {
        "k:node_name": "n1",
        "k:node_provider_id": "aws:///i-1",
        "k:node_label_zone": "a",
        "k:node_labelpresent_zone": "true",
        "k:node_annotation_x": "1",
        "k:node_annotationpresent_x": "true",
        "k:node_condition_ready": "true",
        "k:node_condition_memorypressure": "false",
        "k:node_condition_example_com_odd": "unknown",
      },
      targets: [
        {
          __address__: "10.0.0.1:10250",
          instance: "n1",
          "k:node_address_Hostname": "n1.example.com",
          "k:node_address_InternalIP": "10.0.0.1",
        },
      ],
    });
  });

  const types = ["InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS", "LegacyHostIP", "Hostname"];
  test.each(types.map((type, index) => [type, types.slice(index)] as const))("takes %s first of %j", (type, those) => {
    const addresses = those.toReversed().map((each) => ({ type: each, address: each.toLowerCase() }));
    expect(group({ status: { addresses, daemonEndpoints } }).targets).toMatchObject([
      { __address__: `${type.toLowerCase()}:10250` },
    ]);
  });

  test("has no target without an address, and port 0 without a kubelet's port", () => {
    expect(group({ status: { daemonEndpoints } }).targets).toEqual([]);
    const addresses = [{ type: "InternalIP", address: "2001:db8::1" }];
    expect(group({ status: { addresses } }).targets).toMatchObject([{ __address__: "[2001:db8::1]:0" }]);
  });
});
