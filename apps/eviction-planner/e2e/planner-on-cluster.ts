import { join } from "node:path";
import {
  apply,
  chartAccount,
  type Cluster,
  get,
  kubectl,
  list,
  nodeManifest,
  type NodeShape,
  requestsBy,
} from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { expect } from "@jest/globals";

const CHART = "eviction-planner";
const DEFINITIONS = ["rebalancepolicies", "workloadsloes", "nodeclasses"];
const main = join(import.meta.dirname, "../dist/main.mjs");

export interface PolicyStatus {
  readonly status?: {
    readonly plan?: {
      readonly evictionsPlanned: number;
      readonly evictionsExecuted: number;
      readonly hotNodes: number;
      readonly sigma: number;
      readonly dryRun: boolean;
      readonly blocked?: Readonly<Record<string, number>>;
    };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

interface Judged {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** An eviction that the service asked for, as the API server's audit log has it. */
export interface Asked {
  /** As `namespace/name`. */
  readonly pod: string;
  readonly code: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A real control plane with the service's definitions and the account of its chart. The service is a process. */
export class PlannerOnCluster {
  readonly cluster: Cluster;
  readonly #kubeconfig: string;

  private constructor(cluster: Cluster, kubeconfig: string) {
    this.cluster = cluster;
    this.#kubeconfig = kubeconfig;
  }

  static async prepare(cluster: Cluster): Promise<PlannerOnCluster> {
    await kubectl(cluster, ["apply", "-f", "-"], { input: DEFINITIONS.map(definitionOf).join("\n---\n") });
    const names = DEFINITIONS.map((plural) => `crd/${plural}.rebalancer.dev`);
    await kubectl(cluster, ["wait", "--for=condition=Established", ...names, "--timeout=30s"]);
    const values = ["settings.allowSurge=true", "policy.createDefault=false"];
    const { kubeconfig } = await chartAccount(cluster, { chart: CHART, namespace: "default", values });
    return new PlannerOnCluster(cluster, kubeconfig);
  }

  serve(...flags: readonly string[]): ServiceProcess {
    const own = [`--kubeconfig=${this.#kubeconfig}`, "--insecure", "--grpc-port=0"];
    return ServiceProcess.start(main, [...own, "--sync-period=200ms", ...flags]);
  }

  /** Nodes with the numbers `from` to `to`, without the last. */
  async addNodes(from: number, to: number, shape: NodeShape): Promise<void> {
    const nodes = Array.from({ length: to - from }, (_, index) => nodeManifest(from + index, shape));
    await apply(this.cluster, ...nodes);
    await this.untilAll("Ready", "nodes");
  }

  /** Waits until each object of a kind has a condition. `kubectl wait` takes a tenth of a second for each. */
  async untilAll(condition: string, kind: string, ...args: readonly string[]): Promise<void> {
    await eventually(async () => {
      const objects = await list<Judged>(this.cluster, kind, ...args);
      const has = ({ status: { conditions = [] } }: Judged) =>
        conditions.some(({ type, status }) => type === condition && status === "True");
      expect(objects.length).toBeGreaterThan(0);
      expect(objects.filter((each) => !has(each)).map(({ metadata }) => metadata.name)).toEqual([]);
    }, 90_000);
  }

  async policy(name: string, spec: object): Promise<void> {
    const whole = { basis: "requests", dryRun: false, maxEvictionsPerMinute: 1000, ...spec };
    await apply(this.cluster, {
      ...{ apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name }, spec: whole },
    });
  }

  async slo(namespace: string, spec: object): Promise<void> {
    const metadata = { name: "hour", namespace };
    await apply(this.cluster, { apiVersion: "rebalancer.dev/v1", kind: "WorkloadSLO", metadata, spec });
  }

  status(name: string): Promise<PolicyStatus> {
    return get<PolicyStatus>(this.cluster, "rbpol", name);
  }

  async reason(name: string): Promise<string | undefined> {
    const { status } = await this.status(name);
    return status?.conditions?.find(({ type }) => type === "Ready")?.reason;
  }

  /** Every eviction that the service asked for in a namespace. */
  asked(namespace: string): readonly Asked[] {
    return requestsBy(this.cluster, CHART).flatMap(({ right, address, code, at }) => {
      const [, place = "", pod = ""] = /namespaces\/([^/]+)\/pods\/([^/]+)\/eviction/.exec(address) ?? [];
      if (right !== "create pods/eviction" || place !== namespace) return [];
      return [{ pod: `${place}/${pod}`, code, at: Date.parse(at) }];
    });
  }
}

/** How many pods of a namespace the process evicted. */
export async function evictedBy(service: ServiceProcess, namespace: string): Promise<number> {
  const text = await (await fetch(await service.url("admin", "/metrics"))).text();
  const lines = [...text.matchAll(/^rebalancer_evictions_total\{namespace="([^"]+)",reason="\w+"\} (\d+)$/gm)];
  return lines.filter(([, of]) => of === namespace).reduce((sum, [, , count]) => sum + Number(count), 0);
}

/** How many plans the process has made. */
export async function planCount(service: ServiceProcess): Promise<number> {
  const text = await (await fetch(await service.url("admin", "/metrics"))).text();
  return Number(/^rebalancer_plan_seconds_count (\d+)$/m.exec(text)?.[1] ?? NaN);
}

/** A Deployment whose pods request so much. Their label `app` is its name. */
export function workload(
  namespace: string,
  name: string,
  { replicas, cpu, labels = {} }: { replicas: number; cpu: string; labels?: Readonly<Record<string, string>> },
): object {
  const resources = { requests: { cpu, memory: "1Gi" } };
  const template = {
    metadata: { labels: { app: name, ...labels } },
    spec: { containers: [{ name: "main", image: "example.invalid/none", resources }] },
  };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace } },
    spec: { replicas, selector: { matchLabels: { app: name } }, template },
  };
}

/** A PodDisruptionBudget over the pods with some labels. */
export function budget(namespace: string, name: string, matchLabels: object, spec: object): object {
  const metadata = { name, namespace };
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { selector: { matchLabels }, ...spec },
  };
}
