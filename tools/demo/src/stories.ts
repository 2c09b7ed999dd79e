import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Story } from "./story.ts";

const folder = join(import.meta.dirname, "../stories");

/** Every story there is, by service. */
export async function loadStories(): Promise<readonly Story[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const modules = await Promise.all(
    files.toSorted().map((file) => import(pathToFileURL(join(folder, file)).href) as Promise<{ default: Story }>),
  );
  return modules.map((module) => module.default);
}
