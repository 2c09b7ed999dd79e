import { readFileSync } from "node:fs";
import { join } from "node:path";
import { camel, constant, pascal } from "./service-template.ts";
import { json } from "./skeleton.ts";

/** The files that name every service, with one more in them: path from the workspace's root → text. */
export function registrations(name: string, root: string): ReadonlyMap<string, string> {
  const edits: Readonly<Record<string, (text: string, name: string) => string>> = {
    "libs/api/src/kinds.ts": inKinds,
    "libs/api/src/index.ts": inApi,
    "tools/cli/src/services/index.ts": inCommandLine,
    "tools/cli/package.json": inDependencies,
    "charts/evenkeel/Chart.yaml": inUmbrella,
    "charts/evenkeel/values.yaml": inUmbrellaValues,
    "charts/evenkeel/values.schema.json": inUmbrellaSchema,
  };
  return new Map(
    Object.entries(edits).map(([file, edit]) => {
      const before = readFileSync(join(root, file), "utf8");
      const after = edit(before, name);
      if (after === before) throw new Error(`${file} is not of the form in which a service can be added to it`);
      return [file, after];
    }),
  );
}

function inKinds(text: string, name: string): string {
  return inList(text, `KIND as ${constant(name)}`, constant(name), name);
}

function inApi(text: string, name: string): string {
  const type = pascal(name);
  return `${text}export { KIND as ${constant(name)}, parse${type}, type ${type}, type ${type}Status } from "./${name}.ts";\n`;
}

function inCommandLine(text: string, name: string): string {
  const registration = `${camel(name)}Registration`;
  return inList(text, registration, registration, name);
}

/** Imports from the new file after the last import, and adds the item to the end of the list. */
function inList(text: string, imported: string, item: string, name: string): string {
  return text
    .replace(/(^import [^]*?;\n)(?!import )/m, `$1import { ${imported} } from "./${name}.ts";\n`)
    .replace(/(= \[[^\]]*?),?(\s*\];)/, `$1, ${item}$2`);
}

function inDependencies(text: string, name: string): string {
  const parsed = JSON.parse(text) as { dependencies: Record<string, string> };
  const dependencies = Object.entries({ ...parsed.dependencies, [`@evenkeel/${name}`]: "*" });
  return json({
    ...parsed,
    dependencies: Object.fromEntries(dependencies.sort(([one], [other]) => (one < other ? -1 : 1))),
  });
}

/** The dependencies stand last in the chart. */
function inUmbrella(text: string, name: string): string {
  return (
    `${text}  - name: ${name}\n    version: 0.1.0\n    repository: file://../${name}\n` +
    `    condition: ${name}.enabled\n`
  );
}

function inUmbrellaValues(text: string, name: string): string {
  return `${text}${name}:\n  enabled: false\n`;
}

function inUmbrellaSchema(text: string, name: string): string {
  const parsed = JSON.parse(text) as { properties: object };
  const enabled = { type: "boolean", description: `Install ${name}; its values are below.` };
  return json({
    ...parsed,
    properties: { ...parsed.properties, [name]: { type: "object", properties: { enabled } } },
  });
}
