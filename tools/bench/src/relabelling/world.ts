import type { RelabelRule } from "@evenkeel/relabel";

/**
 * Targets of the size of the target allocator's own benchmark: 42 labels, 17 of them the group's, five targets a group.
 * In values, `{g}` is the number of the group and `{t}` that of the target in it.
 */
export interface World {
  readonly groups: number;
  readonly targets: number;
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly targetLabels: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, readonly RelabelRule[]>>;
}

const k8s = "__meta_kubernetes_";
const slice = `${k8s}endpointslice_`;

const addressLabel = ["__address__"];
const targetRef = [`${slice}address_target_kind`, `${slice}address_target_name`];

/** In the order in which prometheus-operator writes the rules of a ServiceMonitor. */
const serviceMonitor: readonly RelabelRule[] = [
  { source_labels: ["job"], target_label: "__tmp_prometheus_job_name" },
  {
    action: "keep",
    source_labels: [`${k8s}service_label_app`, `${k8s}service_labelpresent_app`],
    regex: "(shop|shop-cart|shop-payment);true",
  },
  { action: "keep", source_labels: [`${slice}port_name`], regex: "metrics" },
  { source_labels: targetRef, separator: ";", regex: "Node;(.*)", replacement: "${1}", target_label: "node" },
  { source_labels: targetRef, separator: ";", regex: "Pod;(.*)", replacement: "${1}", target_label: "pod" },
  { source_labels: [`${k8s}namespace`], target_label: "namespace" },
  { source_labels: [`${k8s}service_name`], target_label: "service" },
  { source_labels: [`${k8s}pod_name`], target_label: "pod" },
  { source_labels: [`${k8s}pod_container_name`], target_label: "container" },
  { action: "drop", source_labels: [`${k8s}pod_phase`], regex: "(Failed|Succeeded)" },
  { source_labels: [`${k8s}service_name`], target_label: "job", replacement: "${1}" },
  { source_labels: [`${k8s}service_label_app`], regex: "(.+)", target_label: "job", replacement: "${1}" },
  { target_label: "endpoint", replacement: "metrics" },
  { source_labels: ["__address__", "__tmp_hash"], regex: "(.+);", target_label: "__tmp_hash", replacement: "$1" },
  { action: "hashmod", source_labels: ["__tmp_hash"], target_label: "__tmp_hash", modulus: 1 },
  { action: "keep", source_labels: ["__tmp_hash", "__tmp_disable_sharding"], regex: "0;|.+;.+" },
];

/** The usual rules for annotated pods. */
const annotatedPods: readonly RelabelRule[] = [
  { action: "keep", source_labels: [`${k8s}service_annotation_scrape`], regex: "true" },
  {
    source_labels: ["__address__", `${slice}port`],
    regex: "([^:]+)(?::\\d+)?;(\\d+)",
    replacement: "$1:$2",
    target_label: "__address__",
  },
  { action: "labelmap", regex: `${k8s}pod_label_(.+)` },
];

export const world: World = {
  groups: 20_000,
  targets: 5,
  groupLabels: {
    [`${k8s}namespace`]: "shop",
    [`${k8s}service_name`]: "cart-{g}",
    [`${k8s}service_label_app`]: "shop-cart",
    [`${k8s}service_labelpresent_app`]: "true",
    [`${k8s}service_annotation_scrape`]: "true",
    [`${slice}name`]: "cart-{g}-x7d2k",
    [`${slice}address_type`]: "IPv4",
    ...numbered(10, (number) => [`${k8s}service_annotation_example_com_key_${number}`, `value-{g}-${number}`]),
  },
  targetLabels: {
    __address__: "host-{g}-{t}:8080",
    [`${slice}port_name`]: "metrics",
    [`${slice}port`]: "8080",
    [`${slice}address_target_kind`]: "Pod",
    [`${slice}address_target_name`]: "cart-{g}-6d4cf56db6-{t}",
    [`${k8s}pod_name`]: "cart-{g}-6d4cf56db6-{t}",
    [`${k8s}pod_phase`]: "Running",
    [`${k8s}pod_container_name`]: "main",
    [`${k8s}pod_node_name`]: "node-{t}",
    [`${k8s}pod_ip`]: "host-{g}-{t}",
    [`${k8s}pod_uid`]: "0f7a1c9e-{g}-{t}",
    ...numbered(4, (number) => [`${k8s}pod_label_key_${number}`, `value-{g}-{t}-${number}`]),
    ...numbered(10, (number) => [`${k8s}pod_annotation_example_com_key_${number}`, `value-{g}-{t}-${number}`]),
  },
  jobs: {
    "keep all": [{ action: "keep", source_labels: addressLabel, regex: ".*" }],
    "drop all": [{ action: "drop", source_labels: addressLabel, regex: ".*" }],
    ServiceMonitor: serviceMonitor,
    "annotated pods": annotatedPods,
  },
};

function numbered(count: number, entry: (number: number) => [string, string]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)));
}
