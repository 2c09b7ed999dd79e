import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "@evenkeel/api";
import { stringify } from "yaml";
import { customResourceDefinition } from "./crd.ts";

const HEADER = "# Generated from libs/api by tools/crds: change the schema there.\n";

/** File name → text, for every kind. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map(
    kinds.map((kind) => [
      `${kind.group}_${kind.plural}.yaml`,
      HEADER + stringify(customResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false }),
    ]),
  );
}

/** Writes every file into `folder` and removes those that were generated once and are no more. Gives the names it changed. */
export function writeFiles(folder: string): readonly string[] {
  const files = generatedFiles();
  const drifted = driftedFiles(folder);
  for (const name of drifted) {
    const text = files.get(name);
    if (text === undefined) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
  return drifted;
}

/** Names of the files in `folder` that are missing, differ from the schema, or were generated for a kind that is no more. */
export function driftedFiles(folder: string): readonly string[] {
  const files = generatedFiles();
  const present = new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
  const stale = [...present]
    .filter(([name, text]) => text.startsWith(HEADER) && !files.has(name))
    .map(([name]) => name);
  const wrong = [...files].filter(([name, text]) => present.get(name) !== text).map(([name]) => name);
  return [...wrong, ...stale].sort();
}
