import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readText, workspaceRoot } from "./projects.ts";
import { referencePages } from "./reference.ts";
import { skeletonFaults } from "./skeleton.ts";

/** Writes the generated pages. */
export async function generate(): Promise<void> {
  for (const [file, text] of await referencePages()) {
    mkdirSync(dirname(join(workspaceRoot, file)), { recursive: true });
    writeFileSync(join(workspaceRoot, file), text);
  }
}

/** What differs between the sources and what was generated from them, one line each. */
export async function drift(): Promise<readonly string[]> {
  const stale = [...(await referencePages())]
    .filter(([file, text]) => readText(file) !== text)
    .map(([file]) => `${file} is out of date: run make generate`);
  return [...stale, ...skeletonFaults()];
}
