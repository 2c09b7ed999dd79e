import { describe, expect, test } from "@jest/globals";
import type { Endpoints, Pod } from "@evenkeel/kube";
import { type Around, shown, surroundingsOf } from "../../../test/surroundings-of.ts";
import { endpointsGroup } from "./endpoints.ts";

const metadata = { namespace: "shop", name: "web", labels: { app: "web" } };
const labels = {
  "k:namespace": "shop",
  "k:endpoints_name": "web",
  "k:endpoints_label_app": "web",
  "k:endpoints_labelpresent_app": "true",
};
const port = { name: "http", port: 9000, protocol: "TCP" };
const target = {
  "k:endpoint_port_name": "http",
  "k:endpoint_port_protocol": "TCP",
  "k:endpoint_ready": "true",
};

const group = (subsets: Endpoints["subsets"], around: Around = {}) =>
  shown(endpointsGroup({ metadata, ...(subsets && { subsets }) }, surroundingsOf(around)));

describe("role endpoints", () => {
  test("has one target for each address and port, ready and not", () => {
    const addresses = [{ ip: "10.0.0.4", hostname: "web-0", nodeName: "n1" }, { ip: "2001:db8::5" }];
    const notReadyAddresses = [{ ip: "10.0.0.6" }];
    expect(group([{ ports: [port], addresses, notReadyAddresses }])).toEqual({
      source: "endpoints/shop/web",
      labels,
      targets: [
        { __address__: "10.0.0.4:9000", ...target, "k:endpoint_hostname": "web-0", "k:endpoint_node_name": "n1" },
        { __address__: "[2001:db8::5]:9000", ...target },
        { __address__: "10.0.0.6:9000", ...target, "k:endpoint_ready": "false" },
      ],
    });
  });

  test("has no targets without subsets, addresses or ports", () => {
    expect(group(undefined).targets).toEqual([]);
    expect(group([{ ports: [port] }]).targets).toEqual([]);
    expect(group([{ addresses: [{ ip: "10.0.0.4" }] }]).targets).toEqual([]);
  });

  test("has the labels of the Service of the same name, if it is seen", () => {
    const service = { metadata: { namespace: "shop", name: "web", annotations: { x: "1" } } };
    const other = { metadata: { namespace: "billing", name: "web" } };
    const more = { "k:service_name": "web", "k:service_annotation_x": "1", "k:service_annotationpresent_x": "true" };
    expect(group([], { services: [other, service] }).labels).toEqual({ ...labels, ...more });
    expect(group([], { services: [other] }).labels).toEqual(labels);
  });

  const node = { metadata: { name: "n1", labels: { zone: "a" } } };
  const nodeLabels = { "k:node_name": "n1", "k:node_label_zone": "a", "k:node_labelpresent_zone": "true" };
  test.each([
    ["its node", { nodeName: "n1" }, { "k:endpoint_node_name": "n1", ...nodeLabels }],
    [
      "the node that it stands for",
      { targetRef: { kind: "Node", name: "n1" } },
      { "k:endpoint_address_target_kind": "Node", "k:endpoint_address_target_name": "n1", ...nodeLabels },
    ],
  ])("has the metadata of %s where it is attached", (_what, address, more) => {
    const subsets = [{ ports: [port], addresses: [{ ip: "10.0.0.4", ...address }] }];
    expect(group(subsets, { nodes: [node] }).targets).toEqual([{ __address__: "10.0.0.4:9000", ...target, ...more }]);
  });

  test("has the metadata of its namespace where it is attached", () => {
    const namespaces = [{ metadata: { name: "shop", labels: { team: "a" } } }];
    const more = { "k:namespace_label_team": "a", "k:namespace_labelpresent_team": "true" };
    expect(group([], { namespaces }).labels).toEqual({ ...labels, ...more });
  });

  const pod: Pod = {
    metadata: { namespace: "shop", name: "web-0", uid: "u-1" },
    spec: {
      nodeName: "n1",
      containers: [
        { name: "app", image: "app:1", ports: [{ name: "main", containerPort: 9000, protocol: "UDP" }] },
        { name: "side", image: "side:1", ports: [{ name: "side", containerPort: 9001, protocol: "TCP" }] },
      ],
    },
    status: { podIP: "10.0.0.4", phase: "Running" },
  };
  const targetRef = { kind: "Pod", namespace: "shop", name: "web-0" };
  const subsets = [{ ports: [port], addresses: [{ ip: "10.0.0.4", targetRef }] }];
  const reference = { "k:endpoint_address_target_kind": "Pod", "k:endpoint_address_target_name": "web-0" };
  const podLabels = {
    "k:pod_name": "web-0",
    "k:pod_uid": "u-1",
    "k:pod_ip": "10.0.0.4",
    "k:pod_node_name": "n1",
    "k:pod_phase": "Running",
    "k:pod_ready": "unknown",
  };
  const container = (name: string, portName: string, number: string) => ({
    "k:pod_container_name": name,
    "k:pod_container_image": `${name}:1`,
    "k:pod_container_init": "false",
    "k:pod_container_port_name": portName,
    "k:pod_container_port_number": number,
    "k:pod_container_port_protocol": "TCP",
  });
  test("has the labels of the pods behind it, with the endpoint's protocol, and their other ports", () => {
    expect(group(subsets, { pods: [pod] }).targets).toEqual([
      { __address__: "10.0.0.4:9000", ...target, ...reference, ...podLabels, ...container("app", "main", "9000") },
      { __address__: "10.0.0.4:9001", ...podLabels, ...container("side", "side", "9001") },
    ]);
  });

  test("has no labels of a pod that is not seen, and none of its ports while it has no address", () => {
    expect(group(subsets, { pods: [] }).targets).toEqual([{ __address__: "10.0.0.4:9000", ...target, ...reference }]);
    expect(group(subsets, { pods: [{ ...pod, status: {} } as Pod] }).targets).toHaveLength(1);
  });
});
