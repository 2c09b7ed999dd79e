import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Names of the services that have a chart: those with a schema of their settings. */
export function serviceCharts(charts: string): readonly string[] {
  return readdirSync(charts)
    .filter((name) => existsSync(join(charts, name, "settings.schema.json")))
    .sort();
}
