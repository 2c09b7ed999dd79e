import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { type ApiServer, type Behaviour, controlPlane, FaultPlan, startApiServer } from "@evenkeel/sim";
import { kubeconfigFor } from "@evenkeel/testkit";

const CRD = new URL(
  "../../../charts/scale-resolver/files/crds/elasti.truefoundry.com_elastiservices.yaml",
  import.meta.url,
);

export interface ClusterOptions {
  /** Controllers in addition to the garbage collector; default: none. */
  readonly behaviours?: readonly Behaviour[];
  /** Further objects, such as definitions, as YAML. */
  readonly manifests?: string;
}

/** An API server of the embedded world that knows ElastiServices, with a client that may do everything. */
export class Cluster implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-resolver-"));
  readonly faults = new FaultPlan();
  /** Requests so far, such as `PUT /apis/discovery.k8s.io/v1/namespaces/default/endpointslices/web`. */
  readonly calls: string[] = [];
  server!: ApiServer;
  kube!: KubeClient;

  static async start({ behaviours = [], manifests }: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster();
    cluster.server = await startApiServer({
      users: [{ name: "admin", groups: ["system:masters"], token: "admin" }],
      behaviours: [...controlPlane, ...behaviours],
      faults: (request, response) => {
        cluster.calls.push(`${request.method} ${(request.url ?? "").split("?", 1)[0]}`);
        return cluster.faults.faults(request, response);
      },
    });
    cluster.server.load(readFileSync(CRD, "utf8"));
    cluster.kube = cluster.connect("admin");
    if (manifests !== undefined) cluster.server.load(manifests);
    // The type is served a moment after its definition is there.
    while (!(await cluster.kube.serves({ ...type, namespaced: true }))) await new Promise(setImmediate);
    cluster.calls.length = 0;
    return cluster;
  }

  /** Requests that change something, since the last call. */
  writes(): string[] {
    return this.calls.splice(0).filter((call) => !call.startsWith("GET "));
  }

  connect(token: string): KubeClient {
    const kubeconfig = join(this.#folder, token);
    writeFileSync(kubeconfig, kubeconfigFor(this.server.url, { token }));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    return connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kube.stop();
    await this.server.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

const type = {
  ...{ group: "elasti.truefoundry.com", version: "v1alpha1" },
  ...{ kind: "ElastiService", plural: "elastiservices" },
};
