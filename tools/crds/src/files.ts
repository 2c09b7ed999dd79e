import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { kinds } from "@evenkeel/api";
import { stringify } from "yaml";
import { customResourceDefinition } from "./crd.ts";

const HEADER = "# Generated from libs/api by tools/crds: change the schema there.\n";

/** Path in the folder of charts → text, for every kind. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map(
    kinds.map((kind) => [
      `${kind.service}/files/crds/${kind.group}_${kind.plural}.yaml`,
      HEADER + stringify(customResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false }),
    ]),
  );
}

/**
 * Writes every file that drifted into the folder of charts, and removes those of kinds that no longer exist. Gives
 * their paths.
 */
export function writeFiles(charts: string): readonly string[] {
  const files = generatedFiles();
  const drifted = driftedFiles(charts);
  for (const path of drifted) {
    const file = join(charts, path);
    const text = files.get(path);
    if (text === undefined) {
      rmSync(file);
    } else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  return drifted;
}

/** Paths of the files that are missing, differ from the schema, or were generated for a kind that no longer exists. */
export function driftedFiles(charts: string): readonly string[] {
  const files = generatedFiles();
  const textOf = (path: string) => (existsSync(join(charts, path)) ? readFileSync(join(charts, path), "utf8") : "");
  const wrong = [...files].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
  const stale = globSync("*/files/crds/*.yaml", { cwd: charts }).filter(
    (path) => !files.has(path) && textOf(path).startsWith(HEADER),
  );
  return [...wrong, ...stale].sort();
}
