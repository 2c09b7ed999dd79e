import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiServerOptions } from "@evenkeel/sim";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN, type ServiceProcess, World, worldParts } from "@evenkeel/testkit";
import { freePorts } from "@evenkeel/state-contract";
import { TestAuthority } from "../src/gateway/testing/test-authority.ts";

/** What the image holds; `nx run endpoint-proxy:integration` makes it first. */
const main = join(import.meta.dirname, "../dist/main.mjs");

const SCORES = "/apis/waoendpointproxy.bitmedia.co.jp/v1beta1/namespaces/wao-system/clusterscores";

export interface StoredScore {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly endpoint: string; readonly owncluster?: boolean; readonly region?: string };
  readonly status?: {
    readonly score?: number;
    readonly clusterUid?: string;
    readonly updateTimestamp?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

/** A cluster with a node of its region and the rights of peers, whose proxy is a process. */
export class ProxyCluster extends World {
  readonly name: string;
  readonly authority: TestAuthority;
  readonly port2: number;
  process!: ServiceProcess;

  private constructor(name: string, parts: ConstructorParameters<typeof World>[0], port2: number) {
    super(parts);
    this.name = name;
    this.port2 = port2;
    this.authority = new TestAuthority(name);
    for (const folder of ["pki", "peers"]) mkdirSync(join(this.folder, folder));
    const { cert, key } = this.authority.issue({ name: "wao-endpoint-proxy" });
    writeFileSync(join(this.folder, "pki", "tls.crt"), cert);
    writeFileSync(join(this.folder, "pki", "tls.key"), key);
  }

  /** `region` is the label of its node; none if null. */
  static async start(
    name: string,
    region: string | null = name,
    server: Partial<ApiServerOptions> = {},
  ): Promise<ProxyCluster> {
    const parts = await worldParts({ service: "endpoint-proxy", main, kinds: ["clusterscores"], server });
    const [port2 = 0] = await freePorts(1);
    const cluster = new ProxyCluster(name, parts, port2);
    cluster.api.load(objects(region));
    await eventually(() => cluster.scores());
    return cluster;
  }

  get endpoint(): string {
    return `https://127.0.0.1:${this.port2}`;
  }

  /** Runs the proxy. */
  run(...flags: string[]): ServiceProcess {
    this.process = this.serve([
      ...(flags.some((flag) => flag.startsWith("--fetch-interval")) ? [] : ["--fetch-interval=1"]),
      ...["--port1=0", `--port2=${this.port2}`],
      `--certificate-directory=${join(this.folder, "pki")}`,
      `--peer-authorities=${join(this.folder, "peers")}`,
      ...flags,
    ]);
    return this.process;
  }

  /** Lists a peer: its authority and its ClusterScore. */
  adopt(
    name: string,
    { endpoint, authority }: Pick<ProxyCluster, "endpoint" | "authority">,
    annotations: Readonly<Record<string, string>> = {},
  ): void {
    writeFileSync(join(this.folder, "peers", name), authority.cert);
    this.api.load(`
apiVersion: waoendpointproxy.bitmedia.co.jp/v1beta1
kind: ClusterScore
metadata: {name: ${name}, namespace: wao-system, annotations: ${JSON.stringify(annotations)}}
spec: {endpoint: "${endpoint}"}`);
  }

  async remove(name: string): Promise<void> {
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    await fetch(`${this.api.url}${SCORES}/${name}`, { method: "DELETE", headers });
  }

  async scores(): Promise<Readonly<Record<string, StoredScore>>> {
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    const answer = await fetch(`${this.api.url}${SCORES}`, { headers });
    const { items } = (await answer.json()) as { items: readonly StoredScore[] };
    return Object.fromEntries(items.map((item) => [item.metadata.name, item]));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.authority[Symbol.dispose]();
  }
}

/** `Ready=True/Scored`, by type. */
export function conditionsOf(score: StoredScore | undefined): Readonly<Record<string, string>> {
  const entries = score?.status?.conditions ?? [];
  return Object.fromEntries(entries.map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

const objects = (region: string | null) => `
{apiVersion: v1, kind: Namespace, metadata: {name: wao-system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: endpoint-proxy-impersonator, namespace: wao-system}}
---
apiVersion: v1
kind: Node
metadata:
  name: node-1
  labels: ${region === null ? "{}" : `{topology.kubernetes.io/region: ${region}}`}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: wao-system}
spec: {nodeName: node-1, containers: [{name: web, image: web, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: impersonator}
rules:
  - {apiGroups: [""], resources: [users, groups, serviceaccounts], verbs: [impersonate]}
  - {apiGroups: [authentication.k8s.io], resources: ["*"], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: impersonator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: impersonator}
subjects: [{kind: ServiceAccount, name: endpoint-proxy-impersonator, namespace: wao-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: peers}
rules:
  - {apiGroups: [waoendpointproxy.bitmedia.co.jp], resources: [clusterscores], verbs: [list]}
  - {apiGroups: [apps], resources: [deployments, statefulsets], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: peers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: peers}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "evenkeel:endpoint-proxies"}]`;
