import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiServer, controlPlane, simNode, startApiServer, workloads } from "@evenkeel/sim";

const TOKEN = "demo";
const crds = join(import.meta.dirname, "../../../charts/crds");

/** A small cluster that lives in this process: four nodes, a few Deployments behind Services, and the project's own kinds. */
export async function startHarbour(): Promise<ApiServer> {
  const users = [{ name: "admin", groups: ["system:masters"], token: TOKEN }];
  const server = await startApiServer({ users, behaviours: [...controlPlane, ...workloads()] });
  for (const file of readdirSync(crds).filter((name) => name.endsWith(".yaml"))) {
    server.load(readFileSync(join(crds, file), "utf8"));
  }
  for (const name of ["north", "east", "south", "west"]) {
    server.load(JSON.stringify(simNode(name, { cpu: "4", memory: "8Gi", pods: 40 })));
  }
  for (const [name, replicas] of fleet) for (const object of ship(name, replicas)) server.load(JSON.stringify(object));
  return server;
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

/** The text of a kubeconfig for its administrator. JSON is YAML. */
export function harbourKubeconfig(url: string): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "demo", cluster: { server: url } }],
    users: [{ name: "admin", user: { token: TOKEN } }],
    contexts: [{ name: "demo", context: { cluster: "demo", user: "admin" } }],
    "current-context": "demo",
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
