import { type Project, readProjects, readText } from "./projects.ts";

/** What every project consists of, whatever it does. */
export function skeleton({ name, folder, layer, targets }: Project): ReadonlyMap<string, string> {
  const project = {
    name,
    $schema: "../../node_modules/nx/schemas/project-schema.json",
    projectType: folder.startsWith("apps/") ? "application" : "library",
    sourceRoot: `${folder}/src`,
    tags: [`layer:${layer}`],
    targets: Object.fromEntries(targets.map((target) => [target, {}])),
  };
  return new Map([
    [`${folder}/project.json`, json(project)],
    [`${folder}/tsconfig.json`, `{ "extends": "../../tsconfig.base.json", "include": ["src", "test", "e2e"] }\n`],
  ]);
}

/** What is wrong with the shape of the workspace's projects, one line each. */
export function skeletonFaults(): readonly string[] {
  return readProjects().flatMap((project) => {
    const { name, folder } = project;
    const different = [...skeleton(project)]
      .filter(([file, text]) => JSON.stringify(plain(readText(file))) !== JSON.stringify(plain(text)))
      .map(([file]) => `${file} is not as the skeleton has it`);
    const missing = ["README.md", "src/index.ts"]
      .filter((file) => readText(`${folder}/${file}`) === undefined)
      .map((file) => `${folder}/${file} is missing`);
    const { name: packageName, type } = parse(readText(`${folder}/package.json`)) as { name?: string; type?: string };
    const misnamed =
      packageName === `@evenkeel/${name}` && type === "module"
        ? []
        : [`${folder}/package.json is not @evenkeel/${name}, a module`];
    return [...different, ...missing, ...misnamed];
  });
}

/** A target may name further inputs of its own; what it runs is the workspace's. */
function plain(text: string | undefined): unknown {
  const project = parse(text) as { targets?: Record<string, object> } | null;
  if (!project?.targets) return project;
  const targets = Object.entries(project.targets).map(([name, target]) => [name, "command" in target ? target : {}]);
  return { ...project, targets: Object.fromEntries(targets) as unknown };
}

function parse(text: string | undefined): unknown {
  return JSON.parse(text ?? "null");
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
