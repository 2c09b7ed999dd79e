import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readText, workspaceRoot } from "./projects.ts";
import { referencePages } from "./reference.ts";
import { skeletonFaults } from "./skeleton.ts";
import { wideLines } from "./wide-lines.ts";

/** Writes the generated pages. */
export async function generate(): Promise<void> {
  for (const [file, text] of await referencePages()) {
    mkdirSync(dirname(join(workspaceRoot, file)), { recursive: true });
    writeFileSync(join(workspaceRoot, file), text);
  }
}

/** What is out of date, out of shape or too wide, one line each. */
export async function drift(): Promise<readonly string[]> {
  const stale = [...(await referencePages())]
    .filter(([file, text]) => readText(file) !== text)
    .map(([file]) => `${file} is out of date: run make generate`);
  return [...stale, ...skeletonFaults(), ...wideLines()];
}
