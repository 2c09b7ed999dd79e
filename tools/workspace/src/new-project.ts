import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workspaceRoot } from "./projects.ts";
import { registrations } from "./service-registration.ts";
import { serviceFiles } from "./service-template.ts";
import { json, skeleton } from "./skeleton.ts";

const layers: Readonly<Record<string, readonly string[]>> = {
  app: ["app"],
  lib: ["adapter", "frame", "platform", "pure"],
  tool: ["tool"],
};

/**
 * Writes a new project with the common skeleton. An app is a whole service that starts, with its chart, its story and
 * its place in the command line. Returns the files written, from the workspace's root.
 */
export function newProject(
  kind: string,
  name: string,
  layer = layers[kind]?.[0] ?? "",
  root = workspaceRoot,
): readonly string[] {
  if (!layers[kind]?.includes(layer)) {
    throw new Error(`A ${kind} of layer "${layer}" does not exist; there are ${JSON.stringify(layers)}`);
  }
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) throw new Error(`"${name}" is not a name in kebab-case`);
  const folder = `${kind}s/${name}`;
  if (existsSync(join(root, folder))) throw new Error(`${folder} is there already`);

  const files =
    kind === "app"
      ? new Map([...serviceFiles(name), ...registrations(name, root)])
      : libraryFiles({ name, folder, layer, targets: ["typecheck", "lint", "test"] });
  for (const [file, text] of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return [...files.keys()];
}

function libraryFiles(project: Parameters<typeof skeleton>[0]): ReadonlyMap<string, string> {
  const { name, folder } = project;
  const packageJson = {
    name: `@evenkeel/${name}`,
    version: "0.1.0",
    private: true,
    type: "module",
    exports: { ".": "./src/index.ts" },
    dependencies: {},
  };
  return new Map([
    ...skeleton(project),
    [`${folder}/package.json`, json(packageJson)],
    [`${folder}/README.md`, `# ${name}\n\nSay here, in a few lines, what it is for and what it promises.\n`],
    [`${folder}/src/index.ts`, `export { name } from "./name.ts";\n`],
    [
      `${folder}/src/name.ts`,
      `/** Replace this with the library's first subject. */\nexport const name = "${name}";\n`,
    ],
    [
      `${folder}/src/name.test.ts`,
      `import { expect, test } from "@jest/globals";\nimport { name } from "./index.ts";\n\n` +
        `test("is called ${name}", () => {\n  expect(name).toBe("${name}");\n});\n`,
    ],
  ]);
}
