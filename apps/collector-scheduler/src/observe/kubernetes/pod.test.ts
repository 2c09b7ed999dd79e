import { describe, expect, test } from "@jest/globals";
import type { KubeObject, Pod } from "@evenkeel/kube";
import { type Around, shown, surroundingsOf } from "../../../test/surroundings-of.ts";
import { podGroup } from "./pod.ts";

const metadata = { namespace: "shop", name: "web-0", uid: "u-1" };
const port = { name: "http", containerPort: 9000, protocol: "TCP" };
const pod: Pod = {
  metadata,
  spec: { nodeName: "n1", containers: [{ name: "app", image: "app:1", ports: [port] }] },
  status: {
    phase: "Running",
    podIP: "10.0.0.4",
    hostIP: "192.0.2.1",
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [{ name: "app", containerID: "containerd://a1" }] as never,
  },
};
const labels = {
  "k:namespace": "shop",
  "k:pod_name": "web-0",
  "k:pod_uid": "u-1",
  "k:pod_ip": "10.0.0.4",
  "k:pod_host_ip": "192.0.2.1",
  "k:pod_node_name": "n1",
  "k:pod_phase": "Running",
  "k:pod_ready": "true",
};
const container = {
  "k:pod_container_name": "app",
  "k:pod_container_image": "app:1",
  "k:pod_container_init": "false",
  "k:pod_container_id": "containerd://a1",
};
const portLabels = {
  "k:pod_container_port_name": "http",
  "k:pod_container_port_number": "9000",
  "k:pod_container_port_protocol": "TCP",
};
const target = { __address__: "10.0.0.4:9000", ...container, ...portLabels };

const group = (changes: Partial<Pod> = {}, around: Around = {}) =>
  shown(podGroup({ ...pod, ...changes }, surroundingsOf(around)));

const owned = (kind: string, name: string): KubeObject["metadata"] => ({
  ...metadata,
  ownerReferences: [{ apiVersion: "v1", kind, name, uid: "u-9", controller: true }],
});
const ownedBy = (kind: string, name: string, by: { readonly kind: string; readonly name: string }): KubeObject => ({
  kind,
  metadata: { ...owned(by.kind, by.name), name },
});

describe("role pod", () => {
  test("has one target for each port of a container", () => {
    expect(group()).toEqual({ source: "pod/shop/web-0", labels, targets: [target] });
  });

  test("has a target without a port for a container without ports, and all containers before the init containers", () => {
    const spec = {
      nodeName: "n1",
      initContainers: [{ name: "init", image: "init:1", ports: [{ containerPort: 8080, protocol: "UDP" }] }],
      containers: [
        { name: "app", image: "app:1" },
        { name: "side", image: "side:1", ports: [port, { containerPort: 9001 }] },
      ],
    };
    const status = {
      ...pod.status,
      initContainerStatuses: [{ name: "init", containerID: "containerd://b2" }] as never,
    };
    const side = { "k:pod_container_name": "side", "k:pod_container_image": "side:1", "k:pod_container_init": "false" };
    expect(group({ spec, status }).targets).toEqual([
      { __address__: "10.0.0.4", ...container },
      { __address__: "10.0.0.4:9000", ...side, ...portLabels },
      { __address__: "10.0.0.4:9001", ...side, "k:pod_container_port_number": "9001" },
      {
        __address__: "10.0.0.4:8080",
        "k:pod_container_name": "init",
        "k:pod_container_image": "init:1",
        "k:pod_container_init": "true",
        "k:pod_container_id": "containerd://b2",
        "k:pod_container_port_number": "8080",
        "k:pod_container_port_protocol": "UDP",
      },
    ]);
  });

  test("has no targets for a pod without an address", () => {
    expect(group({ status: { phase: "Pending" } }).targets).toEqual([]);
    expect(group({ status: { podIP: "" } }).targets).toEqual([]);
  });

  test.each([
    ["False", "false"],
    ["Unknown", "unknown"],
    [undefined, "unknown"],
  ])("says of a Ready condition of %s: %s", (status, ready) => {
    const conditions = status === undefined ? [] : [{ type: "Ready", status }];
    expect(group({ status: { ...pod.status, conditions } }).labels).toMatchObject({ "k:pod_ready": ready });
  });

  test("writes an IPv6 address in brackets", () => {
    const { targets } = group({ status: { ...pod.status, podIP: "2001:db8::4" } });
    expect(targets).toMatchObject([{ __address__: "[2001:db8::4]:9000" }]);
  });

  test("has labels and annotations, also empty ones, by names that Prometheus allows", () => {
    const marked = {
      ...metadata,
      labels: { "app.kubernetes.io/name": "web", empty: "" },
      annotations: { "prometheus.io/scrape": "true" },
    };
    expect(group({ metadata: marked }).labels).toEqual({
      ...labels,
      "k:pod_label_app_kubernetes_io_name": "web",
      "k:pod_labelpresent_app_kubernetes_io_name": "true",
      "k:pod_labelpresent_empty": "true",
      "k:pod_annotation_prometheus_io_scrape": "true",
      "k:pod_annotationpresent_prometheus_io_scrape": "true",
    });
  });

  const byReplicaSet = { "k:pod_controller_kind": "ReplicaSet", "k:pod_controller_name": "web-5d4" };
  const byJob = { "k:pod_controller_kind": "Job", "k:pod_controller_name": "nightly-1" };
  const deployment = ownedBy("ReplicaSet", "web-5d4", { kind: "Deployment", name: "web" });
  const cronJob = ownedBy("Job", "nightly-1", { kind: "CronJob", name: "nightly" });
  test.each<[string, string, string, Around, object]>([
    ["its controller", "ReplicaSet", "web-5d4", {}, byReplicaSet],
    [
      "its Deployment",
      "ReplicaSet",
      "web-5d4",
      { replicaSets: [deployment] },
      { ...byReplicaSet, "k:pod_deployment_name": "web" },
    ],
    ["no Deployment before its ReplicaSet is seen", "ReplicaSet", "web-5d4", { replicaSets: [] }, byReplicaSet],
    [
      "no Deployment of a ReplicaSet that something else owns",
      "ReplicaSet",
      "web-5d4",
      { replicaSets: [ownedBy("ReplicaSet", "web-5d4", { kind: "Rollout", name: "web" })] },
      byReplicaSet,
    ],
    ["its Job", "Job", "nightly-1", { attachJob: true }, { ...byJob, "k:pod_job_name": "nightly-1" }],
    ["its CronJob", "Job", "nightly-1", { jobs: [cronJob] }, { ...byJob, "k:pod_cronjob_name": "nightly" }],
    ["no CronJob before its Job is seen", "Job", "nightly-1", { jobs: [] }, byJob],
  ])("names %s", (_what, kind, name, around, more) => {
    expect(group({ metadata: owned(kind, name) }, around).labels).toEqual({ ...labels, ...more });
  });

  test("names no owner that is not its controller", () => {
    const ownerReferences = [{ apiVersion: "v1", kind: "ReplicaSet", name: "web-5d4", uid: "u-9" }];
    expect(group({ metadata: { ...metadata, ownerReferences } }).labels).toEqual(labels);
  });

  const node = { metadata: { name: "n1", labels: { zone: "a" }, annotations: { x: "1" } } };
  const namespace = { metadata: { name: "shop", labels: { team: "a" }, annotations: { y: "2" } } };
  test("has the metadata of its node and namespace where they are attached", () => {
    expect(group({}, { nodes: [node], namespaces: [namespace] }).labels).toEqual({
      ...labels,
      "k:node_name": "n1",
      "k:node_label_zone": "a",
      "k:node_labelpresent_zone": "true",
      "k:node_annotation_x": "1",
      "k:node_annotationpresent_x": "true",
      "k:namespace_label_team": "a",
      "k:namespace_labelpresent_team": "true",
      "k:namespace_annotation_y": "2",
      "k:namespace_annotationpresent_y": "true",
    });
  });

  test("has no targets while its node is attached and not seen, and all of them while its namespace is not seen", () => {
    expect(group({}, { nodes: [] })).toEqual({ source: "pod/shop/web-0", labels: {}, targets: [] });
    expect(group({}, { namespaces: [] })).toEqual({ source: "pod/shop/web-0", labels, targets: [target] });
  });
});
