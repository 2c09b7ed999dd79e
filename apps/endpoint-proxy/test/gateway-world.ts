import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient, Reflector, ServiceAccountToken, Store } from "@evenkeel/kube";
import { MetricRegistry } from "@evenkeel/metrics";
import { type Clock, type Component, createLogger, type Logger, type Server, systemClock } from "@evenkeel/runtime";
import { type ApiServer, type AuditEntry, startApiServer } from "@evenkeel/sim";
import { ADMIN } from "@evenkeel/testkit";
import { type Gateway, gateway, type GatewayOptions } from "../src/gateway/gateway.ts";
import { gatewayMetrics } from "../src/gateway/gateway-metrics.ts";
import type { GatewayServer } from "../src/gateway/gateway-server.ts";
import type { OwnerAnswers } from "../src/gateway/owner-answers.ts";
import { type Pair, TestAuthority } from "../src/gateway/testing/test-authority.ts";
import type { Member, Members } from "../src/members/member.ts";

const NAMESPACE = "wao-system";
const IMPERSONATOR = "endpoint-proxy-impersonator";

/** What the chart grants the second ServiceAccount, and tokens of users that the cases need. */
const rights = `
{apiVersion: v1, kind: Namespace, metadata: {name: ${NAMESPACE}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: ${IMPERSONATOR}, namespace: ${NAMESPACE}}}
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
subjects: [{kind: ServiceAccount, name: ${IMPERSONATOR}, namespace: ${NAMESPACE}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
  - {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, update, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: User, name: alice}, {kind: User, name: bob}, {kind: User, name: "system:node:n1"}]
`;

/** Tokens of users that every cluster knows. */
export const ALICE = "alices-token";
export const MALLORY = "mallorys-token";

const users = [
  ADMIN,
  { name: "alice", groups: ["dev"], uid: "7", extra: { scopes: ["a"] }, token: ALICE },
  { name: "mallory", token: MALLORY },
];

export interface ClusterOptions {
  readonly answers?: OwnerAnswers;
  readonly settings?: Partial<GatewayOptions["settings"]>;
  /** Of the API server. */
  readonly clock?: Clock;
  /** Comes before each request that reaches the API server through the gateway or from it. */
  readonly faults?: (
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<"handled" | "pass"> | "handled" | "pass";
}

/** A cluster: an authority, an API server with TLS, and a gateway in front of it. */
export class TestCluster implements AsyncDisposable {
  readonly name: string;
  readonly authority: TestAuthority;
  readonly folder: string;
  /** Requests that reached the API server as a user, without those of the gateway itself. */
  readonly reached: AuditEntry[] = [];
  readonly lines: string[] = [];
  readonly peers = new Map<string, Member>();
  api!: ApiServer;
  kube!: KubeClient;
  built!: Gateway;
  server!: GatewayServer;
  readonly #parts: Component[] = [];
  #impersonator!: ServiceAccountToken;
  readonly #log: Logger;

  private constructor(name: string) {
    this.name = name;
    this.authority = new TestAuthority(name);
    this.folder = mkdtempSync(join(tmpdir(), `endpoint-proxy-${name}-`));
    const destination = { write: (line: string) => this.lines.push(line) };
    this.#log = createLogger({ service: name, level: "info", secrets: [], destination });
  }

  static async start(name: string, options: ClusterOptions = {}): Promise<TestCluster> {
    const cluster = new TestCluster(name);
    await cluster.#start(options);
    return cluster;
  }

  get users(): string {
    return `https://127.0.0.1:${this.server.port}`;
  }

  get port2(): string {
    return `https://127.0.0.1:${this.server.peersPort}`;
  }

  /** The lines of the audit log. */
  audit(): Readonly<Record<string, unknown>>[] {
    return this.lines
      .map((line) => JSON.parse(line) as { msg?: string; request?: Record<string, unknown> })
      .flatMap(({ request }) => (request ? [request] : []));
  }

  /** Makes `other` a peer: its authority, and its ClusterScore as a member. */
  join(other: TestCluster): void {
    this.adopt(other.name, other.port2, other.authority.cert);
  }

  adopt(name: string, endpoint: string, authority: string, more: Partial<Member> = {}): void {
    writeFileSync(join(this.folder, "peers", name), authority);
    this.peers.set(name, member(name, { endpoint, ...more }));
  }

  /** Reads certificates and authorities again, as happens every few seconds. */
  async reload(): Promise<void> {
    for (const part of this.#parts) if ("reload" in part) await (part.reload as () => Promise<void>).call(part);
  }

  /** Requests another token of the account that impersonates. */
  async renewToken(): Promise<void> {
    this.#impersonator.discard(await this.#impersonator.token());
  }

  /** Creates the account that impersonates anew, so that its tokens are no longer valid. */
  async replaceImpersonator(): Promise<void> {
    const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
    const what = "serviceaccounts";
    await this.kube.request({ method: "DELETE", path: `${path}/${IMPERSONATOR}`, verb: "delete", what });
    const body = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: IMPERSONATOR } };
    await this.kube.request({ method: "POST", path, verb: "create", what, body });
  }

  /** A new token of a ServiceAccount. */
  async tokenOf(namespace: string, name: string, seconds = 3600): Promise<string> {
    const account = { namespace, name };
    return new ServiceAccountToken({ kube: this.kube, account, clock: systemClock, seconds }).token();
  }

  /** Writes another certificate for both ports. */
  certify(pair: Pair): void {
    writeFileSync(join(this.folder, "pki", "tls.crt"), pair.cert);
    writeFileSync(join(this.folder, "pki", "tls.key"), pair.key);
  }

  /** The client authority as kube-apiserver publishes it. */
  publish(pem: string): Promise<unknown> {
    const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    return this.kube.request({
      ...{ method: "PATCH", path, verb: "patch", what: "configmaps", contentType: "application/merge-patch+json" },
      body: { data: { "client-ca-file": pem } },
    });
  }

  async #start({ answers, settings, faults, clock: serverClock }: ClusterOptions): Promise<void> {
    const serving = this.authority.issue({ name: "kube-apiserver" });
    for (const folder of ["pki", "peers"]) mkdirSync(join(this.folder, folder));
    this.certify(this.authority.issue({ name: "wao-endpoint-proxy" }));
    this.api = await startApiServer({
      ...{ users, tls: serving },
      ...(faults && { faults }),
      ...(serverClock && { clock: serverClock }),
      audit: (entry) => {
        if (entry.user.name !== ADMIN.name || entry.impersonator) this.reached.push(entry);
      },
    });
    this.api.load(rights);
    this.api.load(
      JSON.stringify({
        ...{ apiVersion: "v1", kind: "ConfigMap", data: { "client-ca-file": this.authority.cert } },
        metadata: { namespace: "kube-system", name: "extension-apiserver-authentication" },
      }),
    );
    const clock = systemClock;
    const log = this.#log;
    const target = {
      ...{ server: new URL(this.api.url), ca: this.authority.cert },
      headers: { authorization: `Bearer ${ADMIN.token}` },
    };
    const kubeSettings = {
      ...{ kubeconfig: undefined, kubeContext: undefined, kubeDeadline: 10_000, kubeConnections: 4 },
      ...{ kubeQps: 0, kubeBurst: 100 },
    };
    this.kube = connectKube({ settings: kubeSettings, target, env: {}, userAgent: "endpoint-proxy" });
    this.#parts.push(this.kube);
    const registry = new MetricRegistry();
    const servers: Server[] = [];
    const account = { namespace: NAMESPACE, name: IMPERSONATOR };
    this.#impersonator = new ServiceAccountToken({ kube: this.kube, account, clock });
    this.built = gateway({
      settings: {
        ...{ listenHost: "127.0.0.1", port1: 0, port2: 0, clientCaFile: undefined },
        ...{ certificateDirectory: join(this.folder, "pki"), peerAuthorities: join(this.folder, "peers") },
        ...{ peerNames: ["wao-endpoint-proxy"], trustedPeers: [], peerDroppedGroups: ["kubeadm:cluster-admins"] },
        ...{ basicAuthUsername: undefined, basicAuthPassword: undefined, basicAuthUser: undefined },
        ...{ maxReads: 400, maxWrites: 200, maxHeadBytes: 64 * 1024, headTimeout: 10_000, bodyTimeout: 30_000 },
        ...{ memberDeadline: 10_000, maxHeldBytes: 64 * 1024 * 1024, ...settings },
      },
      ...{ kube: this.kube, members: this.#members(), clock, log, registry },
      impersonator: this.#impersonator,
      clusterUid: () => `uid-of-${this.name}`,
      reflect: (type, options) => {
        const store = new Store({ log });
        const resource = this.kube.resource(type);
        const { selection = {} } = options ?? {};
        const about = { name: "reflector", resource, store: store as never, selection };
        this.#parts.push(new Reflector({ ...about, clock, random: Math.random, log }));
        return store as never;
      },
      metrics: registry.register(gatewayMetrics),
      use: (component) => this.#parts.push(component),
      open: (server) => servers.push(server),
    });
    this.server = this.built.serve(answers ?? { answer: () => undefined });
    this.#parts.push(...servers);
    for (const part of this.#parts) await part.start?.({ signal: new AbortController().signal } as never);
  }

  /** The cluster itself. */
  get member(): Member {
    return member(this.name, { own: true });
  }

  #members(): Members {
    const own = this.member;
    return {
      own: () => own,
      get: (name) => (name === this.name ? own : this.peers.get(name)),
      all: () => [own, ...this.peers.values()],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const now = AbortSignal.abort();
    await this.server.drain(now);
    for (const part of this.#parts.toReversed()) await part.stop?.(now);
    await this.api.stop();
    this.authority[Symbol.dispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function member(name: string, more: Partial<Member> = {}): Member {
  const unscored = { label: "region", standing: "Ready", score: undefined } as const;
  return { name, own: false, endpoint: "", original: false, ...unscored, ...more };
}
