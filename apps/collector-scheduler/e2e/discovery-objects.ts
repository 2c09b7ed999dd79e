import { apply, type Cluster, get, kubectl, list } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";

/** Where most of the objects are, and where a few more are. */
export const SHOP = "shop";
export const DEPOT = "depot";

const ODD = {
  labels: { "app.kubernetes.io/name": "web", app: "web", empty: "" },
  annotations: { "example.com/some-thing": "a b\nc", "prometheus.io/scrape": "true" },
};

const named = (name: string, more: object = {}, namespace = SHOP) => ({ metadata: { name, namespace, ...more } });

const container = (name: string, ...ports: object[]) => ({ name, image: `${name}:1`, ports });

function pod(name: string, spec: object, metadata: object = {}, namespace = SHOP) {
  return { apiVersion: "v1", kind: "Pod", ...named(name, metadata, namespace), spec };
}

function service(name: string, spec: object, metadata: object = {}) {
  return { apiVersion: "v1", kind: "Service", ...named(name, metadata), spec };
}

function slice(name: string, addressType: string, service: string | undefined, endpoints: object[], ports: object[]) {
  const labels = service === undefined ? {} : { "kubernetes.io/service-name": service };
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", ...named(name, { labels }) },
    ...{ addressType, endpoints, ports },
  };
}

function ingress(name: string, spec: object, metadata: object = {}) {
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", ...named(name, metadata), spec };
}

const backend = { service: { name: "web", port: { number: 80 } } };
const path = (path?: string) => ({ ...(path !== undefined && { path }), pathType: "ImplementationSpecific", backend });

const namespaces = [
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: SHOP, labels: { team: "a-b" }, annotations: ODD.annotations },
  },
  { apiVersion: "v1", kind: "Namespace", metadata: { name: DEPOT } },
];

const node = {
  ...{ apiVersion: "v1", kind: "Node", metadata: { ...ODD, name: "bare" }, spec: { providerID: "cloud://zone/bare" } },
};

const web = container(
  "app",
  { name: "http", containerPort: 8080 },
  { containerPort: 8081, protocol: "UDP" },
  { name: "metrics", containerPort: 9090 },
);

const pods = [
  pod(
    "web-0",
    {
      nodeName: "bare",
      containers: [web, container("no-ports")],
      initContainers: [container("init", { containerPort: 7 })],
    },
    ODD,
  ),
  pod("unready", { containers: [web] }, { labels: { app: "web" } }),
  pod("terminating", { containers: [web] }, { labels: { app: "web" }, finalizers: ["evenkeel.io/kept"] }),
  pod("no-ports", { containers: [container("app")] }),
  pod("dual", { containers: [web] }, { labels: { app: "dual" } }),
  pod("six", { containers: [web, container("no-ports")] }),
  pod("host", { containers: [container("app", { containerPort: 1, hostPort: 1 })], hostNetwork: true }),
  pod("unscheduled", { containers: [web], nodeSelector: { nowhere: "at-all" } }),
  pod("far", { containers: [web] }, { labels: { app: "far" } }, DEPOT),
];

const template = (app: string) => ({ metadata: { labels: { app } }, spec: { containers: [web] } });
const batch = { ...template("batch"), spec: { ...template("batch").spec, restartPolicy: "Never" } };

const workloads = [
  {
    ...{ apiVersion: "apps/v1", kind: "Deployment", ...named("rolling") },
    spec: { replicas: 2, selector: { matchLabels: { app: "rolling" } }, template: template("rolling") },
  },
  {
    ...{ apiVersion: "apps/v1", kind: "StatefulSet", ...named("set") },
    spec: { serviceName: "set", replicas: 1, selector: { matchLabels: { app: "set" } }, template: template("set") },
  },
  {
    ...{ apiVersion: "batch/v1", kind: "CronJob", ...named("nightly") },
    spec: { schedule: "0 0 1 1 *", suspend: true, jobTemplate: { spec: { template: batch } } },
  },
];

const services = [
  service(
    "web",
    {
      selector: { app: "web" },
      ports: [
        { name: "http", port: 80, targetPort: "http", appProtocol: "kubernetes.io/h2c" },
        { name: "udp", port: 53, protocol: "UDP", targetPort: 8081 },
      ],
    },
    ODD,
  ),
  service("all-ready", { selector: { app: "web" }, ports: [{ port: 80 }], publishNotReadyAddresses: true }),
  service("rolling", { selector: { app: "rolling" }, ports: [{ port: 80, targetPort: 8080 }] }),
  service("headless", { clusterIP: "None", selector: { app: "set" }, ports: [{ port: 1 }] }),
  service("outside", { type: "ExternalName", externalName: "db.example.com", ports: [{ port: 5432 }] }),
  service("portless", { type: "ExternalName", externalName: "nothing.example.com" }),
  service("balanced", { type: "LoadBalancer", ports: [{ port: 80 }] }),
  service("asked", { type: "LoadBalancer", loadBalancerIP: "192.0.2.7", ports: [{ port: 80 }] }),
  service("on-nodes", {
    type: "NodePort",
    ports: [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ],
  }),
  service("dual", { ipFamilyPolicy: "PreferDualStack", ports: [{ port: 80 }] }),
  service("by-hand", { ports: [{ port: 80 }] }),
];

const dualRef = { kind: "Pod", name: "dual", namespace: SHOP };

const slices = [
  slice("dual-4", "IPv4", "dual", [{ addresses: ["10.9.0.1"], targetRef: dualRef }], [{ name: "http", port: 8080 }]),
  slice("dual-6", "IPv6", "dual", [{ addresses: ["fd00::1"], targetRef: dualRef }], [{ name: "http", port: 8080 }]),
  slice("six-alone", "IPv6", undefined, [{ addresses: ["fd00::2"] }], [{ name: "", port: 8080, protocol: "SCTP" }]),
  slice("names", "FQDN", "missing", [{ addresses: ["a.example.com"] }], [{ port: 443, appProtocol: "https" }]),
  slice(
    "everything",
    "IPv4",
    "by-hand",
    [
      {
        ...{ addresses: ["10.9.0.2"], hostname: "first", nodeName: "bare", zone: "zone-a" },
        conditions: { ready: true, serving: true, terminating: false },
      },
      { addresses: ["10.9.0.3"], conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ["10.9.0.4"], targetRef: { kind: "Node", name: "bare" }, deprecatedTopology: { rack: "7/a" } },
      { addresses: ["10.9.0.5"], targetRef: { kind: "Pod", name: "gone", namespace: SHOP } },
    ],
    [
      { name: "http", port: 80 },
      { name: "more", port: 81, protocol: "UDP" },
    ],
  ),
  slice("empty", "IPv4", "by-hand", [], [{ port: 80 }]),
  slice("portless", "IPv4", "by-hand", [{ addresses: ["10.9.0.6"] }], []),
];

const endpoints = {
  ...{ apiVersion: "v1", kind: "Endpoints", ...named("by-hand", ODD) },
  subsets: [
    {
      addresses: [
        { ip: "10.9.1.1", hostname: "first", nodeName: "bare", targetRef: dualRef },
        { ip: "10.9.1.2", targetRef: { kind: "Node", name: "bare" } },
      ],
      notReadyAddresses: [{ ip: "10.9.1.3" }],
      ports: [
        { name: "http", port: 8080, appProtocol: "http" },
        { name: "udp", port: 1, protocol: "UDP" },
      ],
    },
    { addresses: [{ ip: "10.9.1.4" }], ports: [{ port: 80 }] },
  ],
};

const ingresses = [
  ingress(
    "secure",
    {
      ingressClassName: "nginx",
      tls: [{ hosts: ["a.example.com", "*.wild.example.com"], secretName: "tls" }],
      rules: [
        { host: "a.example.com", http: { paths: [path("/one"), path("/two"), path()] } },
        { host: "b.wild.example.com", http: { paths: [path("/")] } },
        { host: "too.deep.wild.example.com", http: { paths: [path("/")] } },
        { host: "plain.example.com" },
      ],
    },
    ODD,
  ),
  ingress("hostless", { rules: [{ http: { paths: [path("/")] } }] }),
  ingress("wild", {
    tls: [{ hosts: ["*.example.com"] }],
    rules: [{ host: "*.example.com", http: { paths: [path("/")] } }],
  }),
  ingress("default-only", { defaultBackend: backend }),
];

/** Puts objects of all roles on a cluster and resolves when its controllers have done their part. */
export async function createDiscoveryObjects(cluster: Cluster): Promise<void> {
  await apply(cluster, ...namespaces, node);
  await eventually(() => kubectl(cluster, ["get", "serviceaccount", "default", "-n", SHOP]));
  await eventually(() => kubectl(cluster, ["get", "serviceaccount", "default", "-n", DEPOT]));
  await apply(cluster, ...pods, ...workloads, ...services, ...slices, endpoints, ...ingresses);
  await kubectl(cluster, ["create", "job", "tonight", "--from=cronjob/nightly", "-n", SHOP]);
  const ready = ["wait", "--for=condition=Ready", "pods", "-n", SHOP, "--field-selector=spec.nodeName!="];
  await kubectl(cluster, [...ready, "--all", "--timeout=30s"]);
  await kubectl(cluster, ["rollout", "status", "deployment/rolling", "statefulset/set", "-n", SHOP, "--timeout=30s"]);
  await patchStatus(cluster, "pod/web-0", {
    containerStatuses: ["app", "no-ports"].map((name) => ({
      ...containerStatus(name),
      containerID: `containerd://${name}`,
    })),
    initContainerStatuses: [{ ...containerStatus("init"), containerID: "containerd://init" }],
  });
  await patchStatus(cluster, "pod/unready", { conditions: [{ type: "Ready", status: "False" }] });
  await patchStatus(cluster, "pod/no-ports", { conditions: [], phase: "Failed" });
  await patchStatus(cluster, "pod/dual", { podIPs: [{ ip: "10.9.2.1" }, { ip: "fd00::9" }], podIP: "10.9.2.1" });
  await patchStatus(cluster, "pod/six", { podIPs: [{ ip: "fd00::6" }], podIP: "fd00::6" });
  await patchStatus(cluster, "service/balanced", {
    loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }] },
  });
  await patchStatus(cluster, "node/bare", {
    addresses: [
      { type: "Hostname", address: "bare" },
      { type: "ExternalIP", address: "192.0.2.9" },
      { type: "InternalDNS", address: "bare.internal" },
      { type: "InternalDNS", address: "second.internal" },
    ],
    // KWOK leaves a node alone that is ready.
    conditions: [
      { type: "Ready", status: "True" },
      { type: "example.com/Odd-One", status: "Unknown" },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  });
  await kubectl(cluster, ["delete", "pod", "terminating", "-n", SHOP, "--wait=false"]);
  await eventually(() => endpointsAreKnown(cluster), 30_000);
}

interface Slice {
  readonly endpoints: readonly {
    readonly conditions: { readonly ready: boolean; readonly terminating: boolean };
    readonly targetRef: { readonly name: string };
  }[];
}

/**
 * The controllers have seen which pods are not ready and which are terminating, and have mirrored what was made by
 * hand.
 */
async function endpointsAreKnown(cluster: Cluster): Promise<boolean> {
  const labelled = (label: string) => list<Slice>(cluster, "endpointslices", "-n", SHOP, "-l", label);
  const mirrored = await labelled("endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io");
  const slices = await labelled("kubernetes.io/service-name=web");
  const of = (pod: string) => slices.flatMap((one) => one.endpoints).find(({ targetRef }) => targetRef.name === pod);
  const { subsets } = await get<{ subsets: readonly object[] }>(cluster, "endpoints", "web", "-n", SHOP);
  return (
    mirrored.length > 0 &&
    of("unready")?.conditions.ready === false &&
    of("terminating")?.conditions.terminating === true &&
    !JSON.stringify(subsets).includes('"terminating"')
  );
}

const containerStatus = (name: string) => ({ name, image: `${name}:1`, imageID: "", ready: true, restartCount: 0 });

async function patchStatus(cluster: Cluster, object: string, status: object): Promise<void> {
  const patch = JSON.stringify({ status });
  await kubectl(cluster, ["patch", object, "-n", SHOP, "--subresource=status", "--type=merge", "-p", patch]);
}
