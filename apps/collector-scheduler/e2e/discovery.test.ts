import { TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import { eventually, silentLog } from "@evenkeel/runtime/testing";
import { discoveredBy } from "@evenkeel/telemetry";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parseDiscovery } from "../src/observe/discovery/parse-discovery.ts";
import { KubernetesDiscovery } from "../src/observe/kubernetes/kubernetes-discovery.ts";
import { KubernetesFeeds } from "../src/observe/kubernetes/kubernetes-feeds.ts";
import { MetaNames } from "../src/observe/kubernetes/meta-labels.ts";
import type { TargetGroup } from "../src/observe/target-group.ts";
import { createDiscoveryObjects, DEPOT, SHOP } from "./discovery-objects.ts";

const cluster = useCluster({ name: "discovery", nodes: 2 });

let kube: KubeClient;
let feeds: KubernetesFeeds;

beforeAll(async () => {
  await createDiscoveryObjects(cluster());
  const settings = { kubeContext: undefined, kubeDeadline: 30_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
  kube = connectKube({
    ...{ settings: { ...settings, kubeconfig: cluster().kubeconfig }, env: {}, userAgent: "discovery-e2e" },
  });
  feeds = new KubernetesFeeds({ kube, clock: systemClock, random: Math.random, log: silentLog() });
}, TEST_TIMEOUT_MS);

afterAll(async () => {
  await feeds.stop();
  await kube.stop();
});

type LabelRecord = Readonly<Record<string, string>>;

interface Case {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Meta labels, less their prefix, that some target must have: the cluster has what the case is about. */
  readonly has: readonly Readonly<Record<string, string>>[];
}

const ATTACH_ALL = { node: true, namespace: true, deployment: true, job: true, cronjob: true };

const CASES: readonly Case[] = [
  {
    name: "pods",
    config: { role: "pod" },
    has: [
      { pod_ready: "true", pod_container_init: "true", pod_container_id: "containerd://init" },
      { pod_ready: "false" },
      { pod_ready: "unknown", pod_phase: "Failed" },
      { pod_name: "terminating", pod_container_port_protocol: "UDP" },
      { pod_name: "six", pod_ip: "fd00::6", pod_container_port_name: "http" },
      { pod_controller_kind: "ReplicaSet" },
    ],
  },
  {
    name: "services",
    config: { role: "service" },
    has: [
      { service_type: "ExternalName", service_external_name: "db.example.com" },
      { service_type: "LoadBalancer", service_loadbalancer_ip: "192.0.2.1,192.0.2.2" },
      { service_type: "LoadBalancer", service_loadbalancer_ip: "192.0.2.7" },
      { service_type: "NodePort" },
      { service_cluster_ip: "None" },
    ],
  },
  {
    name: "endpoints",
    config: { role: "endpoints" },
    has: [
      { endpoint_ready: "false", pod_name: "unready", service_name: "web" },
      { endpoint_ready: "true", pod_name: "web-0", pod_container_name: "app" },
      { endpoint_address_target_kind: "Node", endpoint_address_target_name: "bare" },
      { endpoint_hostname: "first", endpoint_node_name: "bare", pod_name: "dual" },
      { endpoint_port_protocol: "UDP" },
    ],
  },
  {
    name: "endpoint slices",
    config: { role: "endpointslice" },
    has: [
      { endpointslice_endpoint_conditions_ready: "false", pod_name: "unready" },
      { endpointslice_endpoint_conditions_terminating: "true", pod_name: "terminating" },
      { endpointslice_address_type: "IPv6", endpointslice_name: "six-alone" },
      { endpointslice_address_type: "FQDN", endpointslice_port_app_protocol: "https" },
      { endpointslice_address_target_kind: "Node" },
      { endpointslice_endpoint_zone: "zone-a", endpointslice_endpoint_hostname: "first" },
      { endpointslice_name: "dual-4", pod_name: "dual" },
    ],
  },
  {
    name: "nodes",
    config: { role: "node" },
    has: [
      { node_name: "bare", node_provider_id: "cloud://zone/bare", node_condition_example_com_odd_one: "unknown" },
      { node_address_InternalDNS: "bare.internal", node_labelpresent_empty: "true" },
      { node_condition_ready: "true" },
    ],
  },
  {
    name: "ingresses",
    config: { role: "ingress" },
    has: [
      { ingress_scheme: "https", ingress_host: "b.wild.example.com", ingress_class_name: "nginx" },
      { ingress_scheme: "http", ingress_host: "too.deep.wild.example.com" },
      { ingress_host: "plain.example.com", ingress_path: "/" },
      { ingress_name: "wild", ingress_scheme: "https" },
      { ingress_name: "hostless" },
    ],
  },
  {
    name: "pods of one namespace",
    config: { role: "pod", namespaces: { names: [DEPOT] } },
    has: [{ namespace: DEPOT }],
  },
  {
    name: "endpoint slices of two namespaces",
    config: { role: "endpointslice", namespaces: { names: [DEPOT, SHOP] } },
    has: [{ namespace: SHOP }],
  },
  {
    name: "pods with all metadata attached",
    config: { role: "pod", attach_metadata: ATTACH_ALL },
    has: [
      { pod_deployment_name: "rolling", namespace_label_team: "a-b" },
      { pod_name: "web-0", node_label_app: "web", node_labelpresent_empty: "true" },
      { pod_job_name: "tonight", pod_cronjob_name: "nightly" },
    ],
  },
  {
    name: "endpoints with all metadata attached",
    config: { role: "endpoints", attach_metadata: ATTACH_ALL },
    has: [{ pod_deployment_name: "rolling", namespace_label_team: "a-b" }, { node_name: "bare" }],
  },
  {
    name: "endpoint slices with all metadata attached",
    config: { role: "endpointslice", attach_metadata: ATTACH_ALL },
    has: [{ pod_deployment_name: "rolling", namespace_label_team: "a-b" }, { node_name: "bare" }],
  },
  ...["service", "ingress"].map((role) => ({
    name: `role ${role} with the namespace attached`,
    config: { role, attach_metadata: { namespace: true } },
    has: [{ namespace_label_team: "a-b" }],
  })),
  {
    name: "selected pods",
    config: {
      role: "pod",
      selectors: [{ role: "pod", label: "app in (web, far),empty", field: "status.phase=Running" }],
    },
    has: [{ pod_name: "web-0" }],
  },
  {
    name: "selected endpoint slices, Services and pods",
    config: {
      role: "endpointslice",
      selectors: [
        { role: "endpointslice", label: "kubernetes.io/service-name!=by-hand" },
        { role: "service", label: "app.kubernetes.io/name" },
        { role: "pod", field: "metadata.name!=unready" },
      ],
    },
    has: [{ service_name: "web", pod_name: "web-0" }],
  },
  {
    name: "selected nodes",
    config: { role: "node", selectors: [{ role: "node", label: "app=web" }] },
    has: [{ node_name: "bare" }],
  },
];

/**
 * All that Prometheus finds, asked for at once: each question takes its whole time, however little there is to find.
 */
let prometheus: ReadonlyMap<string, Promise<readonly LabelRecord[]>>;

beforeAll(() => {
  prometheus = new Map(CASES.map(({ name, config }) => [name, found(config)]));
});

async function found(config: object): Promise<readonly LabelRecord[]> {
  const blocks = [{ ...config, kubeconfig_file: cluster().kubeconfig }];
  const targets = await discoveredBy({ job_name: "app", kubernetes_sd_configs: blocks }, { seconds: 10 });
  return targets.map(({ discoveredLabels }) => discoveredLabels);
}

/** What a job seeds its targets with. */
const SEEDS = {
  job: "app",
  __scheme__: "http",
  __metrics_path__: "/metrics",
  __scrape_interval__: "1m",
  __scrape_timeout__: "10s",
  __convert_classic_histograms_to_nhcb__: "false",
  __always_scrape_classic_histograms__: "false",
  __scrape_native_histograms__: "false",
};

async function ours(config: object): Promise<readonly LabelRecord[]> {
  const { blocks } = parseDiscovery({ kubernetes_sd_configs: [config] }, { namespace: "default", scope: "all" });
  const [block] = blocks ?? [];
  if (block?.mechanism !== "kubernetes") throw new Error("the configuration was refused");
  const groups = new Map<string, TargetGroup>();
  let answered = false;
  const sink = {
    update: (updated: readonly TargetGroup[]) => {
      for (const group of updated) groups.set(group.source, group);
    },
    health: (health: { readonly answered: boolean }) => {
      answered = health.answered;
    },
  };
  const discovery = new KubernetesDiscovery(block, sink, { feeds, names: new MetaNames(), clock: systemClock });
  await eventually(() => expect(answered).toBe(true));
  discovery.stop();
  return [...groups.values()].flatMap(({ labels, targets }) =>
    targets.map((target) => ({ ...SEEDS, ...Object.fromEntries(labels), ...Object.fromEntries(target) })),
  );
}

/** In an order that both sides have, each target with its labels sorted. */
function ordered(targets: readonly LabelRecord[]): readonly string[] {
  return targets.map((labels) => JSON.stringify(Object.entries(labels).sort(), null, 1)).sort();
}

test.each(CASES)(
  "$name have the labels that Prometheus gives them",
  async ({ name, config, has }) => {
    const expected = (await prometheus.get(name)) ?? [];
    for (const labels of has) expect(expected).toContainEqual(expect.objectContaining(meta(labels)));
    expect(ordered(await ours(config))).toEqual(ordered(expected));
  },
  TEST_TIMEOUT_MS,
);

function meta(labels: LabelRecord): LabelRecord {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`__meta_kubernetes_${name}`, value]));
}
