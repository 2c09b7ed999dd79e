import type { ServerResponse } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterRoles, connectKube, deployments, type KubeClient } from "@evenkeel/kube";
import { type Clock, createLogger, type Logger, systemClock } from "@evenkeel/runtime";
import { type ApiServer, FaultPlan, type Faults, startApiServer } from "@evenkeel/sim";
import { kubeconfigFor } from "@evenkeel/testkit";

const ADMIN = { name: "admin", groups: ["system:masters"], token: "admin-token" };

/** What the user `resolver` may do. */
const RIGHTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: resolver }
rules:
  - { apiGroups: [apps], resources: [deployments/scale, statefulsets/scale], verbs: [get, patch] }
  - { apiGroups: [argoproj.io], resources: [rollouts/scale], verbs: [get, patch] }
  - { apiGroups: [keda.sh], resources: [scaledobjects], verbs: [patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: resolver }
subjects: [{ kind: User, name: resolver, apiGroup: rbac.authorization.k8s.io }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: resolver }
`;

/** The CRD of a custom type in the namespace `shop`, with spec.replicas as its scale by default. */
export function definition(group: string, version: string, kind: string, plural: string, scale = true): string {
  const scaled = { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: "Namespaced", names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` } },
      versions: [{ name: version, served: true, storage: true, schema, subresources: scale ? scaled : {} }],
    },
  });
}

/** An API server with the namespace `shop`, its faults, and every call of the user `resolver` in order. */
export class ScaleCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-resolver-"));
  readonly #clients: KubeClient[] = [];
  readonly faults = new FaultPlan();
  /** Such as `PATCH /apis/apps/v1/namespaces/shop/deployments/checkout/scale`. */
  readonly calls: string[] = [];
  /** How many of them have their whole answer. */
  answered = 0;
  /** Runs before a call of the resolver is answered. It may answer itself, and then returns true. */
  before: (call: string, response: ServerResponse) => ReturnType<Faults> = () => "pass";
  /** Lines that were logged. */
  readonly lines: { readonly level: string; readonly msg: string; readonly error?: { readonly code?: string } }[] = [];
  readonly log: Logger = createLogger({
    ...{ service: "test", level: "info", secrets: [] },
    destination: { write: (line: string) => this.lines.push(JSON.parse(line) as (typeof this.lines)[number]) },
  });
  readonly #listeners = new Set<() => void>();
  #server: ApiServer | undefined;
  admin!: KubeClient;
  kube!: KubeClient;

  /** `clock`: of the resolver's client. */
  async start(clock: Clock = systemClock): Promise<void> {
    await this.#serve();
    this.server.load("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    this.server.load(RIGHTS);
    this.admin = this.#connect(ADMIN.token);
    this.kube = this.#connect("resolver-token", clock);
  }

  get server(): ApiServer {
    if (this.#server === undefined) throw new Error("the API server is not up");
    return this.#server;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.stop()));
    await this.#server?.stop();
    rmSync(this.#folder, { recursive: true });
  }

  /** Takes from the user `resolver` all that it may do. */
  async revoke(): Promise<void> {
    await this.admin.resource(clusterRoles).delete({ name: "resolver" });
  }

  /** The API server is down until the returned function is called. Its data stays. */
  async gone(): Promise<() => Promise<void>> {
    const port = Number(new URL(this.server.url).port);
    await this.server.stop();
    return () => this.server.listen(port);
  }

  /** Resolves when the resolver has made `count` calls in all. */
  async called(count: number): Promise<void> {
    while (this.calls.length < count) {
      await new Promise<void>((resolve) => {
        const heard = (): void => {
          this.#listeners.delete(heard);
          resolve();
        };
        this.#listeners.add(heard);
      });
    }
  }

  /** Defines a custom type and resolves when it is served. */
  async define(group: string, version: string, kind: string, plural: string, scale = true): Promise<void> {
    this.server.load(definition(group, version, kind, plural, scale));
    const type = { group, version, kind, plural, namespaced: true };
    while (!(await this.admin.serves(type))) await new Promise((resolve) => setImmediate(resolve));
  }

  async deployment(name: string, replicas: number): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/main:1" }] } };
    const spec = { replicas, selector: { matchLabels: labels }, template };
    await this.admin.resource(deployments).create({ metadata: { namespace: "shop", name }, spec });
  }

  async replicas(name: string): Promise<number | undefined> {
    return (await this.admin.resource(deployments).get({ namespace: "shop", name })).spec?.replicas;
  }

  async setReplicas(name: string, replicas: number): Promise<void> {
    const patch = { type: "merge", body: { spec: { replicas } } } as const;
    await this.admin.resource(deployments).patch({ namespace: "shop", name }, patch);
  }

  async #serve(): Promise<void> {
    this.#server = await startApiServer({
      users: [ADMIN, { name: "resolver", token: "resolver-token" }],
      faults: async (request, response) => {
        if (request.headers.authorization?.includes("resolver-token") !== true) return "pass";
        const call = `${request.method ?? ""} ${request.url ?? ""}`;
        this.calls.push(call);
        response.on("finish", () => (this.answered += 1));
        for (const heard of this.#listeners) heard();
        if ((await this.before(call, response)) === "handled") return "handled";
        return this.faults.faults(request, response);
      },
    });
  }

  #connect(token: string, clock: Clock = systemClock): KubeClient {
    const kubeconfig = join(this.#folder, token);
    writeFileSync(kubeconfig, kubeconfigFor(this.server.url, { token }));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    const settings = { kubeconfig, kubeContext: undefined, ...limits };
    const client = connectKube({ settings, env: {}, userAgent: "test", clock });
    this.#clients.push(client);
    return client;
  }
}
