import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  Catalogue,
  type CatalogueJob,
  KubernetesFeeds,
  MetaNames,
  parseDiscovery,
} from "@evenkeel/collector-scheduler/observe";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { relabelling, type RelabelRule } from "@evenkeel/relabel";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";

/** The discovery of collector-scheduler in this process, with files and an API server of its own. */
export class CatalogueWorld implements AsyncDisposable {
  readonly folder: string;
  readonly api: ApiServer;
  readonly feeds: KubernetesFeeds;
  readonly #names = new MetaNames();
  readonly #kube: KubeClient;
  #catalogue: Catalogue | undefined;

  private constructor(folder: string, api: ApiServer) {
    this.folder = folder;
    this.api = api;
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigFor(api.url));
    const limits = { kubeDeadline: 60_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    const settings = { kubeconfig, kubeContext: undefined, ...limits };
    this.#kube = connectKube({ settings, env: {}, userAgent: "bench" });
    this.feeds = new KubernetesFeeds({ kube: this.#kube, clock: systemClock, random: Math.random, log: silentLog() });
  }

  static async start(): Promise<CatalogueWorld> {
    const folder = mkdtempSync(join(tmpdir(), "bench-catalogue-"));
    return new CatalogueWorld(folder, await startApiServer({ users: [ADMIN] }));
  }

  /** A new one, which has found nothing yet, in place of the one before. */
  catalogue(): Catalogue {
    this.#catalogue?.stop();
    const discovery = { feeds: this.feeds, names: this.#names, clock: systemClock, files: this.folder };
    this.#catalogue = new Catalogue({ clock: systemClock, discovery, maxTargets: 1_000_000 });
    return this.#catalogue;
  }

  /** CPU seconds of this process from a change until `holds`. */
  async cost(change: () => void, holds: () => boolean): Promise<number> {
    globalThis.gc?.();
    const before = process.cpuUsage();
    change();
    while (!holds()) await wait(5);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  }

  /** Writes a file, and returns what puts it in place. It is alone in its folder: others are not read again for it. */
  prepare(name: string, groups: readonly object[]): () => void {
    const [folder, file] = [join(this.folder, name), join(this.folder, `${name}.new`)];
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify(groups));
    return () => renameSync(file, this.fileOf(name));
  }

  fileOf(name: string): string {
    return join(this.folder, name, "targets.json");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#catalogue?.stop();
    await this.feeds.stop();
    await this.#kube.stop();
    await this.api.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A job with these rules and this discovery configuration, which may read files below `files`. */
export function catalogueJob(
  name: string,
  discovery: Readonly<Record<string, unknown>>,
  rules: readonly RelabelRule[],
  files?: string,
): CatalogueJob {
  const scrape = {
    ...{ jobName: name, scheme: "http", metricsPath: "/metrics", scrapeInterval: "1m", scrapeTimeout: "10s" },
    ...{ params: new Map(), names: "utf8" as const, rules },
    ...{ convertClassicHistograms: false, alwaysScrapeClassicHistograms: false, scrapeNativeHistograms: false },
  };
  const compilation = relabelling(scrape);
  const { blocks, faults } = parseDiscovery(discovery, { namespace: "default", scope: "all", files });
  if (!compilation.ok || blocks === undefined) throw new Error(`${name} is refused: ${JSON.stringify(faults)}`);
  return { job: `prometheus/${name}`, scrape, relabelling: compilation.relabelling, discovery: blocks };
}
