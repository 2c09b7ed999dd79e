import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Release, root } from "@evenkeel/charts";
import { type Cluster, type ClusterAccess, startCluster } from "@evenkeel/control-plane";
import { apply, chartAccount, get, kubectl, list } from "@evenkeel/e2e";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { writeServiceImage } from "../../src/index.ts";

const SYSTEM = "wao-system";
const CHART = "endpoint-proxy";
const CERTIFICATE = "wao-endpoint-proxy-system-tls";
const CRD = "clusterscores.waoendpointproxy.bitmedia.co.jp";

/** Namespace of the workload. */
export const SHOP = "shop";

interface Certificate {
  readonly "tls.crt": string;
  readonly "tls.key": string;
  readonly "ca.crt": string;
}

/**
 * Two clusters: osaka has the real node, and endpoint-proxy as the umbrella chart installs it there. kyoto has a KWOK
 * node, and a process of endpoint-proxy whose peer is osaka. In osaka, ServiceAccount robot and user ann may edit
 * namespace shop.
 */
export class ProxySite implements AsyncDisposable {
  readonly #osaka: ClusterAccess;
  readonly #kyoto: Cluster;
  readonly #folder = mkdtempSync(join(tmpdir(), "proxy-site-"));
  #service: ServiceProcess | undefined;
  /** Flags of kubectl for each way to osaka. */
  readonly #ways = new Map<Way, readonly string[]>();

  private constructor(osaka: ClusterAccess, kyoto: Cluster) {
    this.#osaka = osaka;
    this.#kyoto = kyoto;
  }

  static async start(osaka: ClusterAccess): Promise<ProxySite> {
    const [kyoto] = await Promise.all([
      startCluster({ name: "kyoto", nodes: 1 }),
      osaka.loadImage(writeServiceImage(CHART)),
    ]);
    const site = new ProxySite(osaka, kyoto);
    try {
      const { kubeconfig, certificate } = await site.#prepareKyoto();
      await site.#installInOsaka(certificate["ca.crt"]);
      await site.#openOsaka();
      await site.#startInKyoto(kubeconfig, certificate);
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
    return site;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
    await this.#kyoto.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get kubectl(): string {
    return join(this.#osaka.bin, "kubectl");
  }

  /** Arguments of kubectl that reach namespace shop of osaka. */
  through(way: Way): readonly string[] {
    return [...(this.#ways.get(way) ?? []), "--kubeconfig=/dev/null", `--namespace=${SHOP}`];
  }

  /** The lines of the audit log of the proxy in osaka. */
  async requests(): Promise<readonly AuditLine[]> {
    const log = await kubectl(this.#osaka, ["logs", `deployment/${CHART}`, "-n", SYSTEM, "--tail=-1"]);
    return log
      .split("\n")
      .filter((line) => line.includes('"request":{'))
      .map((line) => (JSON.parse(line) as { request: AuditLine }).request);
  }

  async #prepareKyoto(): Promise<{ kubeconfig: string; certificate: Certificate }> {
    const kyoto = this.#kyoto;
    await kubectl(kyoto, ["apply", "-f", "-"], { input: definitionOf("clusterscores") });
    await kubectl(kyoto, ["wait", "--for=condition=Established", "crd", CRD, "--timeout=60s"]);
    const { kubeconfig } = await chartAccount(kyoto, { chart: CHART, namespace: SYSTEM });
    return { kubeconfig, certificate: await certificateIn(kyoto) };
  }

  async #installInOsaka(peerAuthority: string): Promise<void> {
    const osaka = this.#osaka;
    const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
    const namespaces = [SYSTEM, SHOP].map((name) => ({
      ...named("v1", "Namespace", name),
      metadata: { name, labels: restricted },
    }));
    await apply(osaka, ...namespaces);
    await apply(
      osaka,
      { ...named("v1", "Secret", "wao-endpoint-proxy-peers", SYSTEM), stringData: { kyoto: peerAuthority } },
      named("v1", "ServiceAccount", "robot", SHOP),
      {
        ...named("rbac.authorization.k8s.io/v1", "RoleBinding", "editors", SHOP),
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
        subjects: [
          { kind: "ServiceAccount", name: "robot", namespace: SHOP },
          { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" },
        ],
      },
    );
    using release = await Release.prepare(osaka);
    const own = [
      "enabled=true",
      `certificate.ipAddresses={${await nodeAddress(osaka)}}`,
      "clusterName=osaka",
      "settings.fetchInterval=1s",
    ];
    const values = own.map((value) => `${CHART}.${value}`);
    await release.helm(
      ...["install", "proxies", release.chart("evenkeel"), "--namespace", SYSTEM, "--wait", "--timeout", "90s"],
      ...values.flatMap((value) => ["--set", value]),
    );
  }

  /** Lets programs outside of the cluster reach both ports, at the address that the certificate names. */
  async #openOsaka(): Promise<void> {
    const osaka = this.#osaka;
    await apply(osaka, {
      ...named("v1", "Service", "outside", SYSTEM),
      spec: {
        type: "NodePort",
        selector: { app: "wao-endpoint-proxy" },
        ports: [
          { name: "users", port: 18080 },
          { name: "peers", port: 18081 },
        ],
      },
    });
    this.#ways.set("one proxy", [
      `--server=https://${await this.#outside("users")}`,
      `--certificate-authority=${this.#file("osaka.crt", (await certificateIn(osaka))["ca.crt"])}`,
      `--token=${(await kubectl(osaka, ["create", "token", "robot", "-n", SHOP])).trim()}`,
    ]);
  }

  async #startInKyoto(kubeconfig: string, certificate: Certificate): Promise<void> {
    for (const part of ["pki", "peers"]) mkdirSync(join(this.#folder, part));
    this.#file("pki/tls.crt", certificate["tls.crt"]);
    this.#file("pki/tls.key", certificate["tls.key"]);
    this.#file("peers/osaka", (await certificateIn(this.#osaka))["ca.crt"]);
    await apply(this.#kyoto, {
      ...named("waoendpointproxy.bitmedia.co.jp/v1beta1", "ClusterScore", "osaka", SYSTEM),
      spec: { endpoint: `https://${await this.#outside("peers")}` },
    });
    const port = await freePort();
    this.#service = ServiceProcess.start(join(root, "apps", CHART, "dist/main.mjs"), [
      ...[`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"],
      ...["--fetch-interval=1", "--cluster-name=kyoto", `--port1=${port}`, "--port2=0"],
      ...[`--certificate-directory=${join(this.#folder, "pki")}`, `--peer-authorities=${join(this.#folder, "peers")}`],
    ]);
    await this.#service.phase("ready");
    const { certificate: user, key } = await this.#kyoto.clientCertificate({ user: "ann", groups: [] });
    this.#ways.set("two proxies", [
      ...[`--server=https://127.0.0.1:${port}/clusters/osaka`, "--tls-server-name=localhost"],
      `--certificate-authority=${this.#file("kyoto.crt", certificate["ca.crt"])}`,
      ...[`--client-certificate=${user}`, `--client-key=${key}`],
    ]);
  }

  async #outside(port: string): Promise<string> {
    const { spec } = await get<{ spec: { ports: { name: string; nodePort: number }[] } }>(
      ...([this.#osaka, "service", "outside", "-n", SYSTEM] as const),
    );
    return `${await nodeAddress(this.#osaka)}:${spec.ports.find(({ name }) => name === port)?.nodePort ?? 0}`;
  }

  #file(name: string, content: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }
}

/** How many proxies a request passes. */
export type Way = "one proxy" | "two proxies";

export interface AuditLine {
  readonly user?: string;
  readonly peer?: string;
  readonly verb: string;
  readonly resource?: string;
  readonly status: number;
}

function named(apiVersion: string, kind: string, name: string, namespace?: string): object {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

async function certificateIn(cluster: ClusterAccess): Promise<Certificate> {
  const { data } = await get<{ data: Certificate }>(cluster, "secret", CERTIFICATE, "-n", SYSTEM);
  const text = (value: string) => Buffer.from(value, "base64").toString("utf8");
  return { "tls.crt": text(data["tls.crt"]), "tls.key": text(data["tls.key"]), "ca.crt": text(data["ca.crt"]) };
}

async function nodeAddress(cluster: ClusterAccess): Promise<string> {
  const [node] = await list<{ status: { addresses: { type: string; address: string }[] } }>(cluster, "nodes");
  return node?.status.addresses.find(({ type }) => type === "InternalIP")?.address ?? "";
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
