import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "@evenkeel/control-plane";
import { helmEnvironment, helmOutput, type HelmResult, pinnedHelm, runHelm } from "@evenkeel/e2e";
import { charts as sources, copyCharts } from "../src/index.ts";

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
    this.#env = helmEnvironment(join(folder, "helm"), cluster.kubeconfig);
  }

  static async prepare(cluster: Cluster): Promise<Release> {
    const helm = await pinnedHelm();
    const release = new Release(helm, mkdtempSync(join(tmpdir(), "charts-e2e-")), cluster);
    await copyCharts(helm, sources, release.charts);
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
