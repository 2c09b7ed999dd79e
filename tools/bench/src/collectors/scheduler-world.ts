import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, type ServiceProcess, World, worldParts } from "@evenkeel/testkit";

const main = join(import.meta.dirname, "../../../../apps/collector-scheduler/dist/main.mjs");
export const JOBS = 10;
/** A job that is the same in every world. */
export const PROBE = { name: "probe", targets: 100 };
/** A job that finds Services. */
export const SERVICES = "services";

/** collector-scheduler as a process on a cluster in this one, with collectors and targets from files. */
export interface SchedulerWorld extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly port: number;
  /** Replaces the targets of a job. */
  setTargets(job: string, addresses: readonly string[]): void;
  /** What a collector is told of a job. */
  answer(path: string): Promise<Buffer>;
  /** Creates a Service that the job {@link SERVICES} keeps. */
  addService(name: string): void;
  /** Sets how many collectors the object wants, as `kubectl scale` does. */
  scale(collectors: number): Promise<void>;
  /** Whether the pod of a collector is ready. */
  isReady(collector: number): Promise<boolean>;
}

/** `targets` in each of ten jobs, besides the probe's. Resolves once all collectors are told of all. */
export async function schedulerWorld(targets: number, collectors = 3): Promise<SchedulerWorld> {
  const flags = { "target-port": "0", interval: "10s", "target-url": "http://targets.test", "max-targets": "1000000" };
  const server = { behaviours: [...controlPlane, ...workloads()] };
  const options = { service: "collector-scheduler", main, kinds: ["collectorloadbalancers"], flags, server };
  const world = new World(await worldParts(options));
  const files = join(world.folder, "targets");
  mkdirSync(files);
  const setTargets = (job: string, addresses: readonly string[]) => {
    const group = { targets: addresses, labels: { team: "shop" } };
    writeFileSync(join(files, `${job}.tmp`), JSON.stringify([group]));
    renameSync(join(files, `${job}.tmp`), join(files, `${job}.json`));
  };
  const names = Array.from({ length: JOBS }, (_, index) => `job-${index}`);
  for (const name of names) setTargets(name, addressesOf(targets));
  setTargets(PROBE.name, addressesOf(PROBE.targets));
  world.api.load(JSON.stringify(simNode("one", { cpu: "64", memory: "64Gi" })));
  await wait(500);
  world.api.load(JSON.stringify(loadBalancer([...names, PROBE.name], files, collectors)));
  const service = world.serve([`--discovery-files=${files}`]);
  const { ports } = (await service.phase("ready")) as { ports: Record<string, number> };
  const port = ports["targets"] ?? NaN;
  const answer = async (path: string) => {
    // By this header the scheduler knows that a collector asks, which hand-overs wait for.
    const headers = { "x-prometheus-refresh-interval-seconds": "1" };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const told = async (job: string) =>
    Promise.all(Array.from({ length: collectors }, (_, index) => answer(targetsPath(job, index)).then(countOf)));
  const isComplete = async () => {
    const counts = await Promise.all([...names, PROBE.name].map(told));
    const sum = counts.flat().reduce((a, b) => a + b, 0);
    return counts.flat().every((count) => count > 0) && sum === JOBS * targets + PROBE.targets;
  };
  // Answers of 100,000 targets take time to make and to read, also from what is waited for.
  await eventually(isComplete, 240_000, 1000);
  const authorization = `Bearer ${ADMIN.token}`;
  return {
    ...{ service, port, setTargets, answer },
    async scale(replicas) {
      const headers = { authorization, "content-type": "application/merge-patch+json" };
      const object = `${world.api.url}/apis/otel.k8s.aws/v1/namespaces/default/collectorloadbalancers/sample`;
      await fetch(object, { method: "PATCH", headers, body: JSON.stringify({ spec: { replicas } }) });
    },
    async isReady(collector) {
      const pod = `${world.api.url}/api/v1/namespaces/default/pods/sample-collector-${collector}`;
      const { status } = (await (await fetch(pod, { headers: { authorization } })).json()) as PodFields;
      return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
    },
    addService: (name) => world.api.load(JSON.stringify(serviceObject(name))),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

interface PodFields {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export function targetsPath(job: string, collector = 0): string {
  return `/jobs/${job}/targets?collector_id=sample-collector-${collector}`;
}

export function addressesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}:8080`);
}

/** Targets in an answer. */
function countOf(body: Buffer): number {
  return (JSON.parse(body.toString()) as readonly { readonly targets: readonly string[] }[]).flatMap(
    ({ targets }) => targets,
  ).length;
}

function serviceObject(name: string): object {
  const annotations = { "prometheus.io/scrape": "true" };
  const spec = { type: "ClusterIP", clusterIP: "None", ports: [{ port: 80, protocol: "TCP" }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default", annotations }, spec };
}

function loadBalancer(jobs: readonly string[], folder: string, collectors: number): object {
  const scrape = "__meta_kubernetes_service_annotation_prometheus_io_scrape";
  const services = {
    ...{ job_name: SERVICES, scrape_interval: "1s", kubernetes_sd_configs: [{ role: "service" }] },
    relabel_configs: [{ source_labels: [scrape], action: "keep", regex: "true" }],
  };
  const configs = jobs.map((name) => ({
    job_name: name,
    scrape_interval: "1s",
    file_sd_configs: [{ files: [join(folder, `${name}.json`)], refresh_interval: "5m" }],
  }));
  const configuration = {
    receivers: { prometheus: { config: { scrape_configs: [...configs, services] } } },
    exporters: { debug: {} },
  };
  return {
    apiVersion: "otel.k8s.aws/v1",
    kind: "CollectorLoadBalancer",
    metadata: { name: "sample", namespace: "default" },
    spec: { replicas: collectors, collectorImage: "collector:1", collectorConfig: JSON.stringify(configuration) },
  };
}
