import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format } from "prettier";
import { parse } from "yaml";
import { serviceSchema, type ValuesSchema } from "./schema.ts";
import { serviceCharts } from "./service-charts.ts";
import { type ChartValues, valuesPage } from "./values-page.ts";

/**
 * Path in the workspace → text of every generated file: schemas of services, their copies of board and alerts (Helm
 * reads nothing outside of a chart), and the reference page.
 */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const text = (path: string) => readFileSync(join(root, path), "utf8");
  const json = (path: string) => JSON.parse(text(path)) as ValuesSchema;
  const shared = json("charts/lib/service.schema.json");
  const defaults = (parse(text("charts/lib/values.yaml")) as { exports: { service: object } }).exports.service;

  const services = serviceCharts(join(root, "charts"));
  const files = new Map<string, string>();
  const pages: ChartValues[] = [
    { ...chartOf("evenkeel"), schema: json("charts/evenkeel/values.schema.json"), defaults: valuesOf("evenkeel") },
  ];
  for (const service of services) {
    const own = `charts/${service}/own.schema.json`;
    const more = existsSync(join(root, own)) ? json(own) : {};
    const schema = serviceSchema(shared, json(`charts/${service}/settings.schema.json`), more);
    const formatted = await format(JSON.stringify(schema), { parser: "json", printWidth: 120 });
    files.set(`charts/${service}/values.schema.json`, formatted);
    files.set(`charts/${service}/files/board.json`, text(`infra/grafana/${service}.json`));
    files.set(`charts/${service}/files/alerts.yaml`, text(`infra/prometheus/${service}.rules.yaml`));
    pages.push({ ...chartOf(service), schema, defaults: merged(defaults, valuesOf(service)) });
  }
  files.set("docs/reference/values.md", valuesPage(pages));
  return files;

  function chartOf(chart: string): { readonly chart: string; readonly description: string } {
    const { description } = parse(text(`charts/${chart}/Chart.yaml`)) as { description: string };
    return { chart, description };
  }
  function valuesOf(chart: string): object {
    return parse(text(`charts/${chart}/values.yaml`)) as object;
  }
}

/** Paths of generated files that are missing or differ from their sources. */
export async function driftedFiles(root: string): Promise<readonly string[]> {
  return [...(await generatedFiles(root))]
    .filter(([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== text)
    .map(([path]) => path);
}

/** Writes the files that drifted, and gives their paths. */
export async function writeFiles(root: string): Promise<readonly string[]> {
  const drifted = await driftedFiles(root);
  const files = await generatedFiles(root);
  for (const path of drifted) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? "");
  }
  return drifted;
}

/** As Helm merges values: tables field by field, everything else as a whole. */
function merged(base: object, over: object): object {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = result[key];
    result[key] = isTable(below) && isTable(value) ? merged(below, value) : (value as unknown);
  }
  return result;
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
