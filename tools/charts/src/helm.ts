import { cpSync } from "node:fs";
import { join } from "node:path";
import { helmOutput } from "@evenkeel/e2e/helm";
import { serviceCharts } from "./service-charts.ts";

/**
 * Packs the dependencies of each chart into it, from the folders beside it: first of the services, then of the umbrella
 * chart.
 */
export async function buildDependencies(helm: string, charts: string): Promise<void> {
  for (const chart of [...serviceCharts(charts), "evenkeel"]) {
    await helmOutput(helm, ["dependency", "update", "--skip-refresh", join(charts, chart)]);
  }
}

/** Copies the charts to `folder`, ready for Helm. The workspace is not changed. */
export async function copyCharts(helm: string, charts: string, folder: string): Promise<void> {
  const isSource = (path: string) => !/\/charts$|Chart\.lock$/.test(path.slice(charts.length));
  cpSync(charts, folder, { recursive: true, filter: isSource });
  await buildDependencies(helm, folder);
}
