import { describe, expect, test } from "@jest/globals";
import type { EndpointSlice, Pod } from "@evenkeel/kube";
import { type Around, shown, surroundingsOf } from "../../../test/surroundings-of.ts";
import { endpointSliceGroup } from "./endpoint-slice.ts";

const metadata = {
  namespace: "shop",
  name: "web-abc",
  labels: { "kubernetes.io/service-name": "web" },
  annotations: { x: "1" },
};
const port = { name: "http", port: 9000, protocol: "TCP", appProtocol: "http" };
const slice: EndpointSlice = { metadata, addressType: "IPv4", ports: [port], endpoints: [{ addresses: ["10.0.0.4"] }] };
const labels = {
  "k:namespace": "shop",
  "k:endpointslice_name": "web-abc",
  "k:endpointslice_address_type": "IPv4",
  "k:endpointslice_label_kubernetes_io_service_name": "web",
  "k:endpointslice_labelpresent_kubernetes_io_service_name": "true",
  "k:endpointslice_annotation_x": "1",
  "k:endpointslice_annotationpresent_x": "true",
};
const portLabels = {
  "k:endpointslice_port": "9000",
  "k:endpointslice_port_name": "http",
  "k:endpointslice_port_protocol": "TCP",
  "k:endpointslice_port_app_protocol": "http",
};

const group = (changes: Partial<EndpointSlice> = {}, around: Around = {}) =>
  shown(endpointSliceGroup({ ...slice, ...changes }, surroundingsOf(around)));

describe("role endpointslice", () => {
  test("has one target for each address and port, with what its endpoint says", () => {
    const endpoints = [
      {
        addresses: ["10.0.0.4", "10.0.0.5"],
        conditions: { ready: true, serving: true, terminating: false },
        hostname: "web-0",
        nodeName: "n1",
        zone: "a",
        deprecatedTopology: { "kubernetes.io/hostname": "n1" },
      },
      { addresses: ["10.0.0.6"], conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ["10.0.0.7"] },
    ];
    const first = {
      ...portLabels,
      "k:endpointslice_endpoint_conditions_ready": "true",
      "k:endpointslice_endpoint_conditions_serving": "true",
      "k:endpointslice_endpoint_conditions_terminating": "false",
      "k:endpointslice_endpoint_hostname": "web-0",
      "k:endpointslice_endpoint_node_name": "n1",
      "k:endpointslice_endpoint_zone": "a",
      "k:endpointslice_endpoint_topology_kubernetes_io_hostname": "n1",
      "k:endpointslice_endpoint_topology_present_kubernetes_io_hostname": "true",
    };
    expect(group({ endpoints })).toEqual({
      source: "endpointslice/shop/web-abc",
      labels,
      targets: [
        { __address__: "10.0.0.4:9000", ...first },
        { __address__: "10.0.0.5:9000", ...first },
        {
          __address__: "10.0.0.6:9000",
          ...portLabels,
          "k:endpointslice_endpoint_conditions_ready": "false",
          "k:endpointslice_endpoint_conditions_serving": "true",
          "k:endpointslice_endpoint_conditions_terminating": "true",
        },
        { __address__: "10.0.0.7:9000", ...portLabels },
      ],
    });
  });

  test("has no targets without endpoints or ports, and an address alone for a port without a number", () => {
    expect(group({ endpoints: [] }).targets).toEqual([]);
    expect(group({ endpoints: null as never }).targets).toEqual([]);
    expect(group({ ports: [] }).targets).toEqual([]);
    expect(group({ ports: [{}] }).targets).toEqual([{ __address__: "10.0.0.4" }]);
  });

  const service = { metadata: { namespace: "shop", name: "web", labels: { app: "web" } } };
  const serviceLabels = { "k:service_name": "web", "k:service_label_app": "web", "k:service_labelpresent_app": "true" };
  test("has the labels of its Service if the slice names it and it is seen", () => {
    expect(group({}, { services: [service] }).labels).toEqual({ ...labels, ...serviceLabels });
    expect(group({}, { services: [] }).labels).toEqual(labels);
    const unnamed = { namespace: "shop", name: "web" };
    expect(group({ metadata: unnamed }, { services: [service] }).labels).toEqual({
      "k:namespace": "shop",
      "k:endpointslice_name": "web",
      "k:endpointslice_address_type": "IPv4",
    });
  });

  test.each([
    ["IPv4", "PreferDualStack", ["IPv4", "IPv6"], 1],
    ["IPv6", "PreferDualStack", ["IPv4", "IPv6"], 0],
    ["IPv6", "RequireDualStack", ["IPv4", "IPv6"], 0],
    ["IPv6", "PreferDualStack", ["IPv6", "IPv4"], 1],
    ["IPv4", "PreferDualStack", ["IPv6", "IPv4"], 0],
    ["IPv4", "PreferDualStack", [], 1],
    ["IPv6", "SingleStack", ["IPv4"], 1],
    ["IPv4", undefined, ["IPv4"], 1],
    ["IPv6", undefined, ["IPv6"], 1],
  ])(
    "of type %s of a Service with policy %s and families %j has %d targets",
    (addressType, policy, ipFamilies, count) => {
      const spec = { ...(policy !== undefined && { ipFamilyPolicy: policy }), ipFamilies };
      const { targets } = group({ addressType }, { services: [{ ...service, spec } as never] });
      expect(targets).toHaveLength(count);
    },
  );

  const node = { metadata: { name: "n1", labels: { zone: "a" } } };
  const nodeLabels = { "k:node_name": "n1", "k:node_label_zone": "a", "k:node_labelpresent_zone": "true" };
  test.each([
    ["its node", { nodeName: "n1" }, { "k:endpointslice_endpoint_node_name": "n1", ...nodeLabels }],
    [
      "the node that it stands for",
      { targetRef: { kind: "Node", name: "n1" } },
      { "k:endpointslice_address_target_kind": "Node", "k:endpointslice_address_target_name": "n1", ...nodeLabels },
    ],
    ["no node that is not seen", { nodeName: "n2" }, { "k:endpointslice_endpoint_node_name": "n2" }],
  ])("has the metadata of %s where it is attached", (_what, endpoint, more) => {
    const endpoints = [{ addresses: ["10.0.0.4"], ...endpoint }];
    expect(group({ endpoints }, { nodes: [node] }).targets).toEqual([
      { __address__: "10.0.0.4:9000", ...portLabels, ...more },
    ]);
  });

  test("has the metadata of its namespace where it is attached", () => {
    const namespaces = [{ metadata: { name: "shop", labels: { team: "a" } } }];
    expect(group({}, { namespaces }).labels).toEqual({
      ...labels,
      "k:namespace_label_team": "a",
      "k:namespace_labelpresent_team": "true",
    });
  });
});

describe("the pods behind an endpoint slice", () => {
  const pod: Pod = {
    metadata: { namespace: "shop", name: "web-0", uid: "u-1" },
    spec: {
      nodeName: "n1",
      containers: [{ name: "app", image: "app:1", ports: [{ name: "main", containerPort: 9000, protocol: "TCP" }] }],
      initContainers: [
        { name: "init", image: "init:1", ports: [{ name: "one", containerPort: 1111, protocol: "TCP" }] },
        { name: "side", image: "side:1", ports: [{ name: "two", containerPort: 9111, protocol: "UDP" }] },
      ],
    },
    status: {
      podIP: "10.0.0.4",
      hostIP: "192.0.2.1",
      phase: "Running",
      containerStatuses: [{ name: "app", containerID: "c1" }] as never,
    },
  };
  const endpoints = [{ addresses: ["10.0.0.4"], targetRef: { kind: "Pod", namespace: "shop", name: "web-0" } }];
  const reference = { "k:endpointslice_address_target_kind": "Pod", "k:endpointslice_address_target_name": "web-0" };
  const podLabels = {
    "k:pod_name": "web-0",
    "k:pod_uid": "u-1",
    "k:pod_ip": "10.0.0.4",
    "k:pod_host_ip": "192.0.2.1",
    "k:pod_node_name": "n1",
    "k:pod_phase": "Running",
    "k:pod_ready": "unknown",
  };
  const container = (name: string, init: boolean, portName: string, number: string, protocol = "TCP") => ({
    "k:pod_container_name": name,
    "k:pod_container_image": `${name}:1`,
    "k:pod_container_init": String(init),
    "k:pod_container_port_name": portName,
    "k:pod_container_port_number": number,
    "k:pod_container_port_protocol": protocol,
  });

  test("give their labels, those of the container of the port, and targets for their other ports", () => {
    const ports = [port, { name: "side", port: 9111, protocol: "TCP" }];
    expect(group({ endpoints, ports }, { pods: [pod] }).targets).toEqual([
      {
        __address__: "10.0.0.4:9000",
        ...portLabels,
        ...reference,
        ...podLabels,
        ...container("app", false, "main", "9000"),
      },
      {
        __address__: "10.0.0.4:9111",
        "k:endpointslice_port": "9111",
        "k:endpointslice_port_name": "side",
        "k:endpointslice_port_protocol": "TCP",
        ...reference,
        ...podLabels,
        ...container("side", true, "two", "9111", "UDP"),
      },
      { __address__: "10.0.0.4:1111", ...podLabels, ...container("init", true, "one", "1111") },
    ]);
  });

  test("give no container where none has the port", () => {
    const ports = [{ port: 7000 }];
    const [first, ...others] = group({ endpoints, ports }, { pods: [pod] }).targets;
    expect(first).toEqual({ __address__: "10.0.0.4:7000", "k:endpointslice_port": "7000", ...reference, ...podLabels });
    expect(others.map((each) => each["__address__"])).toEqual(["10.0.0.4:9000", "10.0.0.4:1111", "10.0.0.4:9111"]);
  });

  test("give nothing while they are not seen, and no other ports without an address", () => {
    const own = { __address__: "10.0.0.4:9000", ...portLabels, ...reference };
    expect(group({ endpoints }, { pods: [] }).targets).toEqual([own]);
    const starting = { ...pod, status: {} };
    expect(group({ endpoints }, { pods: [starting] }).targets).toHaveLength(1);
  });
});
