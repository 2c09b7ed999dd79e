import { cpSync } from "node:fs";
import { join } from "node:path";
import { helmOutput } from "@evenkeel/e2e/helm";
import { serviceCharts } from "./service-charts.ts";

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
