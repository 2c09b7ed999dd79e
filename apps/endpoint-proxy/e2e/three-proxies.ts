import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  apply,
  chartAccount,
  type Cluster,
  type Clusters,
  kubectl,
  TEST_TIMEOUT_MS,
  tokenOf,
  useClusters,
} from "@evenkeel/e2e";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll } from "@jest/globals";
import { type Pair, TestAuthority } from "../src/gateway/testing/test-authority.ts";

export const NAMES = ["east", "west", "south"] as const;
export type Name = (typeof NAMES)[number];

/** Where the proxies run. */
export const NAMESPACE = "wao-system";

const main = join(import.meta.dirname, "../dist/main.mjs");

/** The proxy of one cluster. */
interface Proxy {
  readonly authority: TestAuthority;
  readonly folder: string;
  readonly port1: number;
  readonly port2: number;
  service?: ServiceProcess;
}

export interface ThreeProxiesOptions {
  /** Further flags of every proxy. */
  readonly flags?: readonly string[];
  /** Further flags of the API server of east. */
  readonly apiserverFlags?: readonly string[];
  /** Objects that each cluster has, such as the rights of the users. */
  readonly objects: (name: Name) => readonly object[];
}

/** Three real control planes, each with its proxy as a process that has the rights of its chart. */
export class ThreeProxies {
  readonly #clusters: () => Clusters<Name>;
  readonly #options: ThreeProxiesOptions;
  readonly #proxies = new Map<Name, Proxy>();

  /** Call it at the top of a file: it starts before the tests and stops after them. */
  constructor(options: ThreeProxiesOptions) {
    this.#options = options;
    const { apiserverFlags = [] } = options;
    this.#clusters = useClusters({ east: { nodes: 1, apiserverFlags }, west: { nodes: 1 }, south: { nodes: 1 } });
    beforeAll(async () => this.#start(), TEST_TIMEOUT_MS);
    afterAll(async () => this.#stop(), TEST_TIMEOUT_MS);
  }

  cluster(name: Name): Cluster {
    return this.#clusters()[name];
  }

  /** Flags of kubectl for a member through the proxy of east; undefined: the server of all clusters. */
  through(member: Name | undefined): string[] {
    return [`--server=${this.serverOf(member)}`, `--certificate-authority=${this.authorityFile}`];
  }

  serverOf(member: Name | undefined): string {
    return `https://127.0.0.1:${this.#proxy("east").port1}${member === undefined ? "" : `/clusters/${member}`}`;
  }

  get authorityFile(): string {
    return join(this.#proxy("east").folder, "ca.crt");
  }

  /** Flags of kubectl for a user of east. */
  async certificateOf(user: string): Promise<string[]> {
    const { certificate, key } = await this.cluster("east").clientCertificate({ user, groups: [] });
    return [`--client-certificate=${certificate}`, `--client-key=${key}`];
  }

  /** The authority of a proxy's certificate, and its ports. */
  proxy(name: Name): Pick<Proxy, "authority" | "port1" | "port2"> {
    return this.#proxy(name);
  }

  /** Replaces the certificate of both ports of a proxy, which is its client certificate for peers too. */
  certify(name: Name, { cert, key }: Pair): void {
    const { folder } = this.#proxy(name);
    writeFileSync(join(folder, "pki", "tls.key"), key);
    writeFileSync(join(folder, "pki", "tls.crt"), cert);
  }

  /** Replaces the authorities by which a proxy knows a peer. */
  trust(name: Name, peer: Name, pem: string): void {
    writeFileSync(join(this.#proxy(name).folder, "peers", peer), pem);
  }

  /** Replaces the token of a proxy's own ServiceAccount, as the kubelet does in its pod. Returns the new one's id. */
  async renewToken(name: Name): Promise<string> {
    const token = await tokenOf(this.cluster(name), NAMESPACE, "endpoint-proxy");
    writeFileSync(join(this.#proxy(name).folder, "token"), token);
    const { jti } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { jti: string };
    return `JTI=${jti}`;
  }

  async run(flags: readonly string[], args: readonly string[], input?: string) {
    const options = { kubeconfig: "/dev/null", ...(input !== undefined && { input }) };
    return this.cluster("east").kubectl([...flags, ...args], options);
  }

  #proxy(name: Name): Proxy {
    const found = this.#proxies.get(name);
    if (!found) throw new Error(`${name} has no proxy`);
    return found;
  }

  async #start(): Promise<void> {
    for (const name of NAMES) {
      const folder = mkdtempSync(join(tmpdir(), `endpoint-proxy-${name}-`));
      for (const part of ["pki", "peers"]) mkdirSync(join(folder, part));
      const authority = new TestAuthority(name);
      const { cert, key } = authority.issue({ name: "wao-endpoint-proxy" });
      writeFileSync(join(folder, "pki", "tls.crt"), cert);
      writeFileSync(join(folder, "pki", "tls.key"), key);
      writeFileSync(join(folder, "ca.crt"), authority.cert);
      this.#proxies.set(name, { folder, authority, port1: await freePort(), port2: await freePort() });
    }
    for (const name of NAMES) {
      for (const [peer, { authority }] of this.#proxies) {
        if (peer !== name) writeFileSync(join(this.#proxy(name).folder, "peers", peer), authority.cert);
      }
    }
    await Promise.all(NAMES.map(async (name) => this.#install(name)));
  }

  /** Starts the program with the rights of its chart, and lists the other clusters. */
  async #install(name: Name): Promise<void> {
    const cluster = this.cluster(name);
    const { folder, port1, port2 } = this.#proxy(name);
    await kubectl(cluster, ["apply", "-f", "-"], { input: definitionOf("clusterscores") });
    const crd = "clusterscores.waoendpointproxy.bitmedia.co.jp";
    await kubectl(cluster, ["wait", "--for=condition=Established", "crd", crd, "--timeout=60s"]);
    const { kubeconfig } = await chartAccount(cluster, { chart: "endpoint-proxy", namespace: NAMESPACE });
    await this.renewToken(name);
    const tokenFile = JSON.stringify(join(folder, "token"));
    writeFileSync(kubeconfig, readFileSync(kubeconfig, "utf8").replace(/\btoken: .*/, `tokenFile: ${tokenFile}`));
    await apply(
      cluster,
      ...this.#options.objects(name),
      ...NAMES.filter((peer) => peer !== name).map((peer) => ({
        ...{ apiVersion: "waoendpointproxy.bitmedia.co.jp/v1beta1", kind: "ClusterScore" },
        metadata: { name: peer, namespace: NAMESPACE },
        spec: { endpoint: `https://127.0.0.1:${this.#proxy(peer).port2}` },
      })),
    );
    const service = ServiceProcess.start(main, [
      ...[`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"],
      ...["--fetch-interval=4", `--cluster-name=${name}`, `--port1=${port1}`, `--port2=${port2}`],
      ...[`--certificate-directory=${join(folder, "pki")}`, `--peer-authorities=${join(folder, "peers")}`],
      ...(this.#options.flags ?? []),
    ]);
    this.#proxies.set(name, { ...this.#proxy(name), service });
    await service.phase("ready");
  }

  async #stop(): Promise<void> {
    for (const { service, authority, folder } of this.#proxies.values()) {
      await service?.[Symbol.asyncDispose]();
      authority[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

export interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly impersonatedUser?: { readonly username: string; readonly uid?: string; readonly groups?: readonly string[] };
  readonly objectRef?: { readonly name?: string; readonly resource?: string };
  readonly requestURI: string;
}

/** What a cluster's audit log has of objects with that name. */
export function audited(cluster: Cluster, name: string): AuditEvent[] {
  return eventsOf(cluster).filter(({ objectRef }) => objectRef?.name === name);
}

/** The ids of the tokens with which a ServiceAccount of the proxy has come to a cluster. */
export function tokensUsed(cluster: Cluster, account: string): ReadonlySet<string> {
  const username = `system:serviceaccount:${NAMESPACE}:${account}`;
  const events = eventsOf(cluster).filter(({ user }) => user.username === username);
  return new Set(events.flatMap(({ user }) => user.extra?.["authentication.kubernetes.io/credential-id"] ?? []));
}

function eventsOf(cluster: Cluster): AuditEvent[] {
  const lines = readFileSync(cluster.auditLog ?? "", "utf8").split("\n");
  // The last line may be in the middle of being written; it is empty otherwise.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
