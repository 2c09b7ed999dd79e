import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** Names of the services that have a chart: those with a schema of their settings. */
export function serviceCharts(charts: string): readonly string[] {
  return readdirSync(charts)
    .filter((name) => existsSync(join(charts, name, "settings.schema.json")))
    .sort();
}

/** The version of a service that its chart installs. */
export function appVersion(charts: string, service: string): string {
  const chart = parse(readFileSync(join(charts, service, "Chart.yaml"), "utf8")) as { readonly appVersion: string };
  return chart.appVersion;
}
