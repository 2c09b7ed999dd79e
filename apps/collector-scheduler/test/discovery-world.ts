import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient, pods } from "@evenkeel/kube";
import { relabelling, type RelabelRule, type ScrapeJob } from "@evenkeel/relabel";
import { type Clock, systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { type ApiServer, FaultPlan, startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";
import type { CatalogueJob } from "../src/observe/catalogue-job.ts";
import { Catalogue, type CatalogueParts } from "../src/observe/catalogue.ts";
import type { DiscoveryBlock } from "../src/observe/discovery/discovery-block.ts";
import { parseDiscovery } from "../src/observe/discovery/parse-discovery.ts";
import type { DiscoveryParts } from "../src/observe/discovery/start-discovery.ts";
import { KubernetesFeeds } from "../src/observe/kubernetes/kubernetes-feeds.ts";
import { MetaNames } from "../src/observe/kubernetes/meta-labels.ts";
import type { TargetChanges } from "../src/observe/target.ts";

interface PodOptions {
  readonly ip?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: { apiVersion: string; kind: string; name: string; uid: string; controller: boolean };
}

/** An API server in this process, a folder for files, and what discovery needs of them. */
export class DiscoveryWorld implements AsyncDisposable {
  readonly faults = new FaultPlan();
  /** Of each watch that was opened, the path. */
  readonly watches: string[] = [];
  readonly feeds: KubernetesFeeds;
  readonly parts: DiscoveryParts;
  readonly folder: string;
  readonly api: ApiServer;
  readonly kube: KubeClient;
  readonly #responses: ServerResponse[] = [];
  readonly #catalogues: Catalogue[] = [];

  private constructor(folder: string, api: ApiServer, kube: KubeClient) {
    this.folder = folder;
    this.api = api;
    this.kube = kube;
    const common = { clock: systemClock, random: Math.random, log: silentLog() };
    const backoff = { base: 20, cap: 50, healthyAfter: 1000, free: { perSecond: 100, burst: 100 } };
    this.feeds = new KubernetesFeeds({ ...common, kube, timing: { backoff } });
    this.parts = { feeds: this.feeds, names: new MetaNames(), clock: systemClock };
  }

  static async start(): Promise<DiscoveryWorld> {
    const folder = await mkdtemp(join(tmpdir(), "discovery-"));
    const hooks: { handle?: FaultPlan["faults"] } = {};
    const api = await startApiServer({
      users: [ADMIN],
      faults: (request, response) => hooks.handle?.(request, response) ?? "pass",
    });
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(api.url));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    const settings = { kubeconfig, kubeContext: undefined, ...limits };
    const world = new DiscoveryWorld(folder, api, connectKube({ settings, env: {}, userAgent: "test" }));
    hooks.handle = (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://sim");
      if (searchParams.has("watch")) {
        world.watches.push(pathname);
        world.#responses.push(response);
      }
      return world.faults.faults(request, response);
    };
    return world;
  }

  /** Ends the connections of all watches that are open. */
  breakWatches(): void {
    for (const response of this.#responses.splice(0)) response.destroy();
  }

  /** Creates a pod with an address. */
  async addPod(
    name: string,
    { ip = "10.0.0.1", namespace = "default", labels = {}, annotations = {}, owner }: PodOptions = {},
  ): Promise<void> {
    const metadata = { name, namespace, labels, annotations, ...(owner && { ownerReferences: [owner] }) };
    const container = { name: "app", image: "app:1", ports: [{ name: "web", containerPort: 80 }] };
    await this.kube.resource(pods).create({ metadata, spec: { nodeName: "node-a", containers: [container] } });
    const status = { podIP: ip, phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await this.kube.resource(pods).status.patch({ namespace, name }, { type: "merge", body: { status } });
  }

  async removePod(name: string, namespace = "default"): Promise<void> {
    await this.kube.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
  }

  /** A catalogue that stops with the world, and everything it told. */
  catalogue(parts: Partial<CatalogueParts> = {}): { catalogue: Catalogue; told: TargetChanges[] } {
    const catalogue = new Catalogue({ clock: systemClock, discovery: this.parts, maxTargets: 100_000, ...parts });
    const told: TargetChanges[] = [];
    catalogue.onChange((changes) => told.push(changes));
    this.#catalogues.push(catalogue);
    return { catalogue, told };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const catalogue of this.#catalogues) catalogue.stop();
    await this.feeds.stop();
    await this.kube.stop();
    await this.api.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A clock by which every step of a work takes longer than its slice. */
export function tiringClock(): Clock {
  let passed = 0;
  return { ...systemClock, monotonic: () => (passed += 100) };
}

const scrape: ScrapeJob = {
  jobName: "app",
  scheme: "http",
  metricsPath: "/metrics",
  scrapeInterval: "30s",
  scrapeTimeout: "10s",
  params: new Map(),
  convertClassicHistograms: false,
  alwaysScrapeClassicHistograms: false,
  scrapeNativeHistograms: false,
  names: "utf8",
  rules: [],
};

/** A job with these rules and this discovery configuration. */
export function jobOf(
  name: string,
  discovery: Readonly<Record<string, unknown>>,
  rules: readonly RelabelRule[] = [],
): CatalogueJob {
  const job = { ...scrape, jobName: name, rules };
  const compilation = relabelling(job);
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults));
  return {
    job: `prometheus/${name}`,
    scrape: job,
    relabelling: compilation.relabelling,
    discovery: blocksOf(discovery),
  };
}

export function blocksOf(discovery: Readonly<Record<string, unknown>>, files?: string): readonly DiscoveryBlock[] {
  const { blocks, faults } = parseDiscovery(discovery, { namespace: "default", scope: "all", files });
  if (!blocks) throw new Error(JSON.stringify(faults));
  return blocks;
}
