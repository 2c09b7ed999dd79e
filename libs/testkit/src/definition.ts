import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const charts = join(import.meta.dirname, "../../../charts");

/**
 * The CustomResourceDefinition that the charts install for a kind, as YAML, by its plural name such as `rebalances`.
 */
export function definitionOf(plural: string): string {
  const [file, ...others] = globSync(`*/**/*_${plural}.yaml`, { cwd: charts });
  if (file === undefined || others.length > 0) {
    throw new Error(`the charts have ${1 + others.length} definitions of ${plural}, one is expected`);
  }
  return readFileSync(join(charts, file), "utf8");
}
