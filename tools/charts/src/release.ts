import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helmEnvironment, helmOutput, type HelmResult, pinnedHelm, runHelm } from "@evenkeel/e2e/helm";
import { parseAllDocuments } from "yaml";
import { copyCharts } from "./helm.ts";
import { charts as sources } from "./places.ts";

/** An object that a chart renders. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Helm with charts that are ready to install and nothing of the user's own settings. */
export class Release implements Disposable {
  readonly folder: string;
  readonly charts: string;
  /** Path of Helm. */
  readonly binary: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(helm: string, folder: string, kubeconfig: string) {
    this.binary = helm;
    this.folder = folder;
    this.charts = join(folder, "charts");
    this.#env = helmEnvironment(join(folder, "helm"), kubeconfig);
  }

  /** Without a cluster charts can be rendered and not installed. */
  static async prepare({ kubeconfig = "" }: { readonly kubeconfig?: string } = {}): Promise<Release> {
    const helm = await pinnedHelm();
    const release = new Release(helm, mkdtempSync(join(tmpdir(), "charts-e2e-")), kubeconfig);
    await copyCharts(helm, sources, release.charts);
    return release;
  }

  /** Path of a chart. */
  chart(name: string): string {
    return join(this.charts, name);
  }

  /** The objects of a chart with some values, each as after `--set`. */
  async render(chart: string, ...values: readonly string[]): Promise<readonly Rendered[]> {
    const set = values.flatMap((value) => ["--set", value]);
    const text = await this.helm("template", "evenkeel", this.chart(chart), "-n", "evenkeel-system", ...set);
    return objectsOf(text);
  }

  /** Runs Helm, which must succeed. */
  async helm(...args: readonly string[]): Promise<string> {
    return helmOutput(this.binary, args, this.#env);
  }

  /** Runs Helm, whatever comes of it. */
  async tryHelm(...args: readonly string[]): Promise<HelmResult> {
    return runHelm(this.binary, args, this.#env);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The objects of a manifest. */
export function objectsOf(text: string): readonly Rendered[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Rendered | null) ?? []);
}
