import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { waitUntil } from "@evenkeel/control-plane";
import { apply, type Cluster, kubectl } from "@evenkeel/e2e";
import { buildKeda, type KedaFiles } from "./build.ts";
import { kedaVersion, readPins } from "./pins.ts";

const run = promisify(execFile);

const NAMESPACE = "keda";
/** An address of the pods' range that no pod gets. Only `tools/e2e/in-namespace.sh` makes it reachable. */
const ADAPTER = { address: "10.200.255.253", port: 16_443, name: "keda-metrics-apiserver" };
const METRICS_API = { group: "external.metrics.k8s.io", version: "v1beta1" };
const HEALTH = "127.0.0.1:18081";
const METRICS_SERVICE = "127.0.0.1:19666";

export interface KedaOptions {
  /** Names that the operator resolves, and their addresses. */
  readonly hosts?: Readonly<Record<string, string>>;
}

/** KEDA's real operator and metrics adapter, as processes beside a control plane. */
export class Keda implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "keda-"));
  readonly #cluster: Pick<Cluster, "kubeconfig">;
  readonly #children: ChildProcess[] = [];

  private constructor(cluster: Pick<Cluster, "kubeconfig">) {
    this.#cluster = cluster;
  }

  /** Resolves when the operator is ready and kube-apiserver forwards external metrics to the adapter. */
  static async start(cluster: Cluster, { hosts = {} }: KedaOptions = {}): Promise<Keda> {
    const files = await buildKeda((line) => process.stderr.write(`  ${line}\n`));
    // Its definition of ScaledObjects replaces the one of a test. KEDA's releases add the label with the version.
    await kubectl(cluster, ["apply", "--server-side", "--force-conflicts", "-f", files.definitions]);
    const version = `app.kubernetes.io/version=${kedaVersion(readPins()).slice(1)}`;
    await kubectl(cluster, ["label", "--overwrite", "crd", "scaledobjects.keda.sh", version]);
    await apply(cluster, ...objects());
    const keda = new Keda(cluster);
    try {
      await keda.#certificate();
      keda.#startOperator(files, hosts);
      await waitUntil("KEDA's operator to be ready", async () => {
        const answer = await fetch(`http://${HEALTH}/readyz`);
        return answer.ok ? undefined : `it answers ${answer.status}`;
      });
      keda.#startAdapter(files);
      await waitUntil("KEDA's adapter to serve metrics", async () => {
        const { group, version } = METRICS_API;
        const { stderr } = await cluster.kubectl(["get", "--raw", `/apis/${group}/${version}`]);
        return stderr === "" ? undefined : stderr;
      });
    } catch (error) {
      const log = keda.log();
      await keda[Symbol.asyncDispose]();
      throw new Error(`KEDA did not start:\n${log.slice(-5000)}`, { cause: error });
    }
    return keda;
  }

  /** What both have written so far. */
  log(): string {
    return ["operator", "adapter"]
      .map((name) => {
        try {
          return readFileSync(join(this.#folder, `${name}.log`), "utf8");
        } catch {
          return `${name} was not started\n`;
        }
      })
      .join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#children.map(
      (child) =>
        new Promise<void>((resolve) => {
          if (child.exitCode !== null || child.signalCode !== null) resolve();
          else child.once("exit", () => resolve());
        }),
    );
    for (const child of this.#children) child.kill("SIGKILL");
    await Promise.all(ended);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** One certificate for both, which is also its own authority. */
  async #certificate(): Promise<void> {
    const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const names = ["-subj", "/CN=keda", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
    const files = ["-keyout", this.#file("tls.key"), "-out", this.#file("tls.crt")];
    await run("openssl", ["req", "-x509", ...form, ...names, ...files]);
    copyFileSync(this.#file("tls.crt"), this.#file("ca.crt"));
  }

  #startOperator({ operator }: KedaFiles, hosts: Readonly<Record<string, string>>): void {
    const flags = [
      "--leader-elect=false",
      "--metrics-bind-address=0",
      `--health-probe-bind-address=${HEALTH}`,
      `--metrics-service-bind-address=${METRICS_SERVICE}`,
      `--cert-dir=${this.#folder}`,
      `--ca-dir=${this.#folder}`,
      "--zap-log-level=info",
    ];
    const lines = Object.entries({ localhost: "127.0.0.1", ...hosts }).map(([name, address]) => `${address} ${name}\n`);
    writeFileSync(this.#file("hosts"), lines.join(""));
    // In a mount namespace of its own, so that only the operator sees the names.
    const command = 'mount --bind "$1" /etc/hosts && shift && exec "$@"';
    this.#spawn("operator", "unshare", [
      "--mount",
      "--",
      "sh",
      "-c",
      command,
      "sh",
      this.#file("hosts"),
      operator,
      ...flags,
    ]);
  }

  #startAdapter({ adapter }: KedaFiles): void {
    const { kubeconfig } = this.#cluster;
    const readers = ["lister", "authentication", "authorization"].map((who) => `--${who}-kubeconfig=${kubeconfig}`);
    this.#spawn("adapter", adapter, [
      ...readers,
      "--port=18082",
      `--bind-address=${ADAPTER.address}`,
      `--secure-port=${ADAPTER.port}`,
      `--metrics-service-address=${METRICS_SERVICE}`,
      `--cert-dir=${this.#folder}`,
      `--tls-cert-file=${this.#file("tls.crt")}`,
      `--tls-private-key-file=${this.#file("tls.key")}`,
    ]);
  }

  #spawn(name: string, program: string, args: readonly string[]): void {
    const log = openSync(this.#file(`${name}.log`), "a");
    const env = {
      ...{ ...process.env, KUBECONFIG: this.#cluster.kubeconfig },
      ...{ POD_NAMESPACE: NAMESPACE, KEDA_CLUSTER_OBJECT_NAMESPACE: NAMESPACE, WATCH_NAMESPACE: "" },
    };
    this.#children.push(spawn(program, args, { env, stdio: ["ignore", log, log] }));
    closeSync(log);
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}

/** The adapter's Service and its address, and the rights that KEDA's own manifests give. */
function objects(): readonly object[] {
  const { address, port, name } = ADAPTER;
  const { group, version } = METRICS_API;
  const metadata = { namespace: NAMESPACE, name };
  const reader = "keda-external-metrics-reader";
  const rbac = "rbac.authorization.k8s.io";
  const hpa = { kind: "ServiceAccount", namespace: "kube-system", name: "horizontal-pod-autoscaler" };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ name: "https", port: 443 }] } },
    {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
      ports: [{ name: "https", port, protocol: "TCP" }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `${version}.${group}` },
      spec: {
        ...{ group, version, service: { namespace: NAMESPACE, name, port: 443 } },
        ...{ insecureSkipTLSVerify: true, groupPriorityMinimum: 100, versionPriority: 100 },
      },
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: reader } },
      rules: [{ apiGroups: [group], resources: ["*"], verbs: ["*"] }],
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata: { name: reader }, subjects: [hpa] },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: reader },
    },
  ];
}
