import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { waitUntil } from "@evenkeel/control-plane";
import type { KubeClient } from "@evenkeel/kube";
import type { SeenPod } from "./stage.ts";

const execute = promisify(execFile);

/** An address of the pods' range that no pod gets. Only `tools/e2e/in-namespace.sh` makes it reachable. */
const ADDRESS = "10.200.255.254";
const PORT = 4443;
const NAME = "bench-metrics";
const NAMESPACE = "kube-system";
const GROUP = "metrics.k8s.io/v1beta1";
/** Milliseconds for which a list of pods counts as the present. */
const FRESH = 500;

/** Milli-CPU and bytes. */
export interface PodUsage {
  readonly cpu: number;
  readonly memory: number;
}

export interface MetricsWorld {
  readonly namespace: string;
  readonly nodes: readonly string[];
  /** The pods that run now. */
  pods(): Promise<readonly SeenPod[]>;
  usageOf(pod: SeenPod): PodUsage;
}

/**
 * Plays metrics-server behind the aggregation layer of kube-apiserver: KWOK nodes have no kubelet that it could ask.
 */
export class MetricsServer implements AsyncDisposable {
  readonly #world: MetricsWorld;
  readonly #server: Server;
  #listed: { readonly at: number; readonly pods: Promise<readonly SeenPod[]> } | undefined;

  private constructor(world: MetricsWorld, identity: { readonly key: Buffer; readonly cert: Buffer }) {
    this.#world = world;
    this.#server = createServer(identity, ({ url = "" }, response) => {
      this.#answer(new URL(url, "https://metrics").pathname).then(
        (body) => {
          response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
          response.end(JSON.stringify(body ?? { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 }));
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  /** Resolves when kube-apiserver forwards requests to it. */
  static async start(kube: KubeClient, world: MetricsWorld): Promise<MetricsServer> {
    const server = new MetricsServer(world, await selfSigned());
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject).listen(PORT, ADDRESS, resolve);
    });
    await register(kube);
    const path = `/apis/${GROUP}/nodes`;
    await waitUntil("metrics.k8s.io answers", async () => {
      await kube.request({ path, verb: "list" });
      return undefined;
    });
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(path: string): Promise<unknown> {
    const [resource, name, rest, podName] = path.replace(/^\/apis\/metrics\.k8s\.io\/v1beta1\/?/, "").split("/");
    if (resource === "") return resourceList();
    if (resource === "nodes") return listOrOne("NodeMetrics", await this.#nodes(), name);
    if (resource === "pods") return listOrOne("PodMetrics", await this.#pods(), undefined);
    if (resource !== "namespaces" || rest !== "pods") return undefined;
    return listOrOne("PodMetrics", name === this.#world.namespace ? await this.#pods() : [], podName);
  }

  async #nodes(): Promise<readonly Measurement[]> {
    const sums = new Map(this.#world.nodes.map((node) => [node, { cpu: 0, memory: 0 }]));
    for (const pod of await this.#present()) {
      const [sum, { cpu, memory }] = [sums.get(pod.node), this.#world.usageOf(pod)];
      if (sum === undefined) continue;
      sum.cpu += cpu;
      sum.memory += memory;
    }
    return [...sums].map(([name, usage]) => ({ ...measurement("NodeMetrics", { name }), usage: quantities(usage) }));
  }

  async #pods(): Promise<readonly Measurement[]> {
    const { namespace } = this.#world;
    return (await this.#present()).map((pod) => ({
      ...measurement("PodMetrics", { namespace, name: pod.name }),
      containers: [{ name: "main", usage: quantities(this.#world.usageOf(pod)) }],
    }));
  }

  #present(): Promise<readonly SeenPod[]> {
    const now = performance.now();
    if (this.#listed === undefined || now - this.#listed.at > FRESH) {
      this.#listed = { at: now, pods: this.#world.pods() };
    }
    return this.#listed.pods;
  }
}

interface Measurement {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

function measurement(kind: string, metadata: Measurement["metadata"]): Measurement {
  const timestamp = new Date().toISOString();
  return { ...{ apiVersion: GROUP, kind, timestamp, window: "1s" }, metadata };
}

function quantities({ cpu, memory }: PodUsage): Readonly<Record<string, string>> {
  return { cpu: `${Math.round(cpu)}m`, memory: String(Math.round(memory)) };
}

function listOrOne(kind: string, items: readonly Measurement[], name: string | undefined): unknown {
  if (name !== undefined) return items.find(({ metadata }) => metadata.name === name);
  return { apiVersion: GROUP, kind: `${kind}List`, metadata: {}, items };
}

function resourceList(): unknown {
  const verbs = ["get", "list"];
  const resources = [
    { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs },
    { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs },
  ];
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: GROUP, resources };
}

/** The Service with an address behind it, and the APIService that names it. */
async function register(kube: KubeClient): Promise<void> {
  const create = (path: string, body: unknown) => kube.request({ method: "POST", path, verb: "create", body });
  const metadata = { namespace: NAMESPACE, name: NAME };
  await create(`/api/v1/namespaces/${NAMESPACE}/services`, {
    metadata,
    spec: { ports: [{ port: 443, name: "https" }] },
  });
  await create(`/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`, {
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": NAME } },
    addressType: "IPv4",
    ports: [{ name: "https", port: PORT, protocol: "TCP" }],
    endpoints: [{ addresses: [ADDRESS], conditions: { ready: true } }],
  });
  const service = { namespace: NAMESPACE, name: NAME, port: 443 };
  const [group, version] = GROUP.split("/");
  await create("/apis/apiregistration.k8s.io/v1/apiservices", {
    metadata: { name: `${version}.${group}` },
    spec: {
      ...{ group, version, service },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
}

async function selfSigned(): Promise<{ readonly key: Buffer; readonly cert: Buffer }> {
  const folder = mkdtempSync(join(tmpdir(), "bench-metrics-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    await execute("openssl", ["req", "-x509", ...form, "-subj", `/CN=${NAME}`, "-keyout", key, "-out", cert]);
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
