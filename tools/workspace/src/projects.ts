import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const workspaceRoot = join(import.meta.dirname, "../../..");

export interface Project {
  readonly name: string;
  /** Its folder, from the workspace's root. */
  readonly folder: string;
  readonly layer: string;
  readonly targets: readonly string[];
}

/** Every project of the workspace, by folder. */
export function readProjects(root = workspaceRoot): readonly Project[] {
  return globSync("{apps,libs,tools}/*/project.json", { cwd: root })
    .sort()
    .map((file) => {
      const json = JSON.parse(readFileSync(join(root, file), "utf8")) as {
        name: string;
        tags: string[];
        targets: Record<string, unknown>;
      };
      const layer = json.tags.find((tag) => tag.startsWith("layer:"))?.slice("layer:".length) ?? "";
      return { name: json.name, folder: dirname(file), layer, targets: Object.keys(json.targets) };
    });
}

/** The text of a file below the workspace's root, or nothing. */
export function readText(file: string, root = workspaceRoot): string | undefined {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
