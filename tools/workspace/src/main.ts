import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { drift, generate } from "./generate.ts";
import { newProject } from "./new-project.ts";
import { workspaceRoot } from "./projects.ts";
import { runTests } from "./run-tests.ts";

const usage = `Usage: node tools/workspace/src/main.ts <verb>

  test <target>... [--fresh]
                            runs nx targets over all projects and closes with their times and the sum of their tests;
                            --fresh runs again what has not changed since it passed
  generate                  writes the generated reference pages
  drift                     exits 1 and says what is out of date or out of shape
  new <app|lib|tool> <name> [layer]
                            makes a project with the common skeleton
`;

/** What is made from the files of a service. */
const generators = [
  ["tools/crds/src/main.ts"],
  ["tools/charts/src/main.ts", "generate"],
  ["tools/workspace/src/main.ts", "generate"],
];

async function run([verb, ...words]: readonly string[]): Promise<number> {
  switch (verb) {
    case "test": {
      const { values, positionals } = parseArgs({
        args: [...words],
        options: { fresh: { type: "boolean" } },
        allowPositionals: true,
      });
      return runTests(positionals, values);
    }
    case "generate":
      await generate();
      return 0;
    case "drift": {
      const faults = await drift();
      for (const fault of faults) console.error(fault);
      return faults.length === 0 ? 0 : 1;
    }
    case "new": {
      const [kind = "", name = "", layer] = words;
      const files = newProject(kind, name, layer);
      for (const file of files) console.log(file);
      const options = { cwd: workspaceRoot, stdio: "inherit" } as const;
      spawnSync("prettier", ["--write", "--log-level=warn", "--ignore-unknown", ...files], options);
      for (const generator of kind === "app" ? generators : []) spawnSync(process.execPath, generator, options);
      console.log("Run `npm install` once, so that others can import it.");
      return 0;
    }
    default:
      console.error(usage);
      return verb === "--help" ? 0 : 2;
  }
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
