import { spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { serviceCharts } from "./service-charts.ts";

export interface HelmResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Runs Helm to its end, whatever its exit code. */
export async function runHelm(helm: string, args: readonly string[], env = process.env): Promise<HelmResult> {
  const child = spawn(helm, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const { promise, resolve, reject } = Promise.withResolvers<HelmResult>();
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.on("error", reject);
  child.on("close", (code) => resolve({ stdout, stderr, code: code ?? -1 }));
  return promise;
}

/** Runs Helm, which must succeed, and gives its output. */
export async function helmOutput(helm: string, args: readonly string[], env = process.env): Promise<string> {
  const { stdout, stderr, code } = await runHelm(helm, args, env);
  if (code !== 0) throw new Error(`helm ${args.join(" ")} ended with code ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** Packs into each chart those that it depends on, from the folders beside it: first the services, then the umbrella over them. */
export async function buildDependencies(helm: string, charts: string): Promise<void> {
  for (const chart of [...serviceCharts(charts), "evenkeel"]) {
    await helmOutput(helm, ["dependency", "update", "--skip-refresh", join(charts, chart)]);
  }
}

/** Makes a copy of the charts at `folder` that Helm can install, and leaves the workspace as it is. */
export async function copyCharts(helm: string, charts: string, folder: string): Promise<void> {
  const isSource = (path: string) => !/\/charts$|Chart\.lock$/.test(path.slice(charts.length));
  cpSync(charts, folder, { recursive: true, filter: isSource });
  await buildDependencies(helm, folder);
}
