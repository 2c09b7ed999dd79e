import { isDeepStrictEqual } from "node:util";
import { type Project, readProjects, readText, workspaceRoot } from "./projects.ts";

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
export function skeletonFaults(root = workspaceRoot): readonly string[] {
  const defaults = Object.keys((parse(readText("nx.json", root)) as { targetDefaults?: object }).targetDefaults ?? {});
  return readProjects(root).flatMap((project) => {
    const { name, folder } = project;
    const different = [...skeleton(project)]
      .filter(([file, text]) => !isDeepStrictEqual(bare(parse(readText(file, root)), defaults), parse(text)))
      .map(([file]) => `${file} is not as the skeleton has it`);
    const missing = ["README.md", "src/index.ts"]
      .filter((file) => readText(`${folder}/${file}`, root) === undefined)
      .map((file) => `${folder}/${file} is missing`);
    const packageJson = parse(readText(`${folder}/package.json`, root)) as { name?: string; type?: string } | null;
    const misnamed =
      packageJson?.name === `@evenkeel/${name}` && packageJson.type === "module"
        ? []
        : [`${folder}/package.json is not @evenkeel/${name}, a module`];
    return [...different, ...missing, ...misnamed];
  });
}

interface ProjectFile {
  readonly tags?: readonly string[];
  readonly targets?: Readonly<Record<string, { readonly command?: string }>>;
  readonly include?: readonly string[];
}

/**
 * A project's file less what it may add to the skeleton: tags beside its layer, further folders of sources or some left
 * out, targets of its own, and to a target that all projects have, inputs and a second check after the common one. What
 * the common targets run is the workspace's; only the bundle of a tool, which no image holds, is its own.
 */
function bare(file: unknown, defaults: readonly string[]): unknown {
  if (typeof file !== "object" || file === null) return file;
  const { tags, targets, include, ...others } = file as ProjectFile;
  const rest: Record<string, unknown> = Object.fromEntries(
    Object.entries(others).filter(([name]) => name !== "exclude"),
  );
  const bareTargets = Object.entries(targets ?? {}).map(([name, { command }]) => {
    const isCommon = command === undefined || command.startsWith("tsc --noEmit -p {projectRoot} && ");
    const isOwnBundle = name === "bundle" && rest["projectType"] === "library";
    return [name, isCommon || isOwnBundle || !defaults.includes(name) ? {} : { command }];
  });
  return {
    ...rest,
    ...(tags && { tags: tags.slice(0, 1) }),
    ...(targets && { targets: Object.fromEntries(bareTargets) as unknown }),
    ...(include && { include: include.filter((folder) => ["src", "test", "e2e"].includes(folder)) }),
  };
}

function parse(text: string | undefined): unknown {
  return JSON.parse(text ?? "null");
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
