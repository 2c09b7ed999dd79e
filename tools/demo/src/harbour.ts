import { randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  controlPlane,
  type DataPlane,
  dataPlane,
  FaultPlan,
  type PodProgram,
  podPrograms,
  type RunningPod,
  simNode,
  startApiServer,
  workloads,
} from "@evenkeel/sim";
import { type LoopbackAddresses, loopbackAddresses } from "@evenkeel/testkit";

/** kubectl sends no token over plain HTTP, so whoever reaches the demo, on loopback, may do everything in it. */
const everyone = [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "everything" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "everyone" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "everything" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "system:anonymous" }],
  },
];
const crds = join(import.meta.dirname, "../../../charts/*/files/crds/*.yaml");

/** The demo's cluster, and what stands for the machines below it. */
export interface Harbour {
  readonly url: string;
  /** Of pods and Services: no other demo or test on this machine has them. */
  readonly addresses: LoopbackAddresses;
  /** Carries connections to Services, as kube-proxy does. */
  readonly plane: DataPlane;
  /** What goes wrong at the API server. */
  readonly faults: FaultPlan;
  /** What runs in pods that start from now on, by their label `app`; in others nothing does. */
  readonly programs: Map<string, (pod: RunningPod) => PodProgram>;
  stop(): Promise<void>;
}

/**
 * A small cluster that lives in this process: four nodes, a few Deployments behind Services, and the project's own
 * kinds. Whoever has `token` may do everything in it.
 */
export async function startHarbour(token: string = randomUUID()): Promise<Harbour> {
  const addresses = await loopbackAddresses();
  const faults = new FaultPlan();
  const programs: Harbour["programs"] = new Map();
  // Pods have addresses of loopback, where their programs really listen.
  const plane = dataPlane({ locate: ({ address, port }) => ({ host: address, port }) });
  const server = await startApiServer({
    users: [{ name: "visitor", groups: ["system:masters"], token }],
    faults: faults.faults,
    behaviours: [
      ...controlPlane,
      ...workloads({ podCidr: addresses.range }),
      podPrograms((pod) => programs.get(pod.labels["app"] ?? "")?.(pod)),
      plane.behaviour,
    ],
  });
  for (const object of everyone) server.load(JSON.stringify(object));
  for (const file of globSync(crds)) server.load(readFileSync(file, "utf8"));
  for (const name of ["north", "east", "south", "west"]) {
    server.load(JSON.stringify(simNode(name, { cpu: "4", memory: "8Gi", pods: 40 })));
  }
  for (const [name, replicas] of fleet) for (const object of ship(name, replicas)) server.load(JSON.stringify(object));
  const stop = async () => {
    await server.stop();
    await addresses[Symbol.asyncDispose]();
  };
  return { url: server.url, addresses, plane, faults, programs, stop };
}

/** The Deployments and how many pods they begin with. */
export const fleet: readonly (readonly [name: string, replicas: number])[] = [
  ["checkout", 4],
  ["search", 6],
  ["catalogue", 3],
  ["mail", 2],
];

function ship(name: string, replicas: number): readonly object[] {
  const labels = { app: name };
  const metadata = { name, namespace: "default", labels };
  const resources = { requests: { cpu: "250m", memory: "256Mi" } };
  const containers = [{ name: "main", image: `images.invalid/${name}:1`, ports: [{ containerPort: 8080 }], resources }];
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}

/** The text of a kubeconfig for it. JSON is YAML. */
export function harbourKubeconfig(url: string): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "demo", cluster: { server: url } }],
    users: [{ name: "anyone", user: {} }],
    contexts: [{ name: "demo", context: { cluster: "demo", user: "anyone" } }],
    "current-context": "demo",
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
