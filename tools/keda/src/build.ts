import { execFile } from "node:child_process";
import { globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildGoPrograms, foldersFrom } from "@evenkeel/control-plane";
import { BUILD_FLAGS, GO_FOLDER, MODULE, type Program, PROGRAMS, readPins, versionKey } from "./pins.ts";

const run = promisify(execFile);

export interface KedaFiles {
  readonly operator: string;
  readonly adapter: string;
  /** The custom resource definitions, as one YAML stream. */
  readonly definitions: string;
}

/** Builds what is missing in the user's cache folder. The first build on a machine takes about ten minutes. */
export async function buildKeda(progress: (line: string) => void): Promise<KedaFiles> {
  const cache = join(foldersFrom(process.env).cache, "..", "keda");
  const folder = join(cache, versionKey(readPins(), `${process.platform}-${process.arch}`));
  const file = (program: Program): string => join(folder, "bin", program);
  const definitions = join(folder, "definitions.yaml");
  const programs = (Object.keys(PROGRAMS) as Program[]).map((name) => ({
    ...{ name, folder: GO_FOLDER, package: PROGRAMS[name], flags: BUILD_FLAGS, file: file(name) },
  }));
  const derived = [{ file: definitions, write: () => writeDefinitions(definitions) }];
  await buildGoPrograms(programs, { cache, derived, progress });
  return { operator: file("operator"), adapter: file("adapter"), definitions };
}

async function writeDefinitions(file: string): Promise<void> {
  const { stdout } = await run("go", ["list", "-m", "-f", "{{.Dir}}", MODULE], {
    cwd: GO_FOLDER,
    env: { ...process.env, GOWORK: "off" },
  });
  const folder = join(stdout.trim(), "config", "crd", "bases");
  const documents = globSync("*.yaml", { cwd: folder })
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, documents.join("\n---\n"));
  renameSync(temporary, file);
}
