import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBinaries, type Cluster, foldersFrom } from "@evenkeel/control-plane";
import { charts as sources, copyCharts, helmOutput, type HelmResult, runHelm } from "../src/index.ts";

/** Helm against a cluster, with charts that are ready to install and nothing of the user's own settings. */
export class Release implements Disposable {
  readonly folder: string;
  readonly charts: string;
  readonly #helm: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(helm: string, folder: string, cluster: Cluster) {
    this.#helm = helm;
    this.folder = folder;
    this.charts = join(folder, "charts");
    const own = (name: string) => join(folder, "helm", name);
    const homes = { HELM_CACHE_HOME: own("cache"), HELM_CONFIG_HOME: own("config"), HELM_DATA_HOME: own("data") };
    this.#env = { ...process.env, ...homes, KUBECONFIG: cluster.kubeconfig };
  }

  static async prepare(cluster: Cluster): Promise<Release> {
    const progress = (line: string) => process.stderr.write(`  ${line}\n`);
    const toolset = await buildBinaries({ binaries: ["helm"], folders: foldersFrom(process.env), progress });
    const release = new Release(toolset.path("helm"), mkdtempSync(join(tmpdir(), "charts-e2e-")), cluster);
    await copyCharts(toolset.path("helm"), sources, release.charts);
    return release;
  }

  /** Path of a chart. */
  chart(name: string): string {
    return join(this.charts, name);
  }

  /** Runs Helm, which must succeed. */
  async helm(...args: readonly string[]): Promise<string> {
    return helmOutput(this.#helm, args, this.#env);
  }

  /** Runs Helm, whatever comes of it. */
  async tryHelm(...args: readonly string[]): Promise<HelmResult> {
    return runHelm(this.#helm, args, this.#env);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
