import { join } from "node:path";
import { buildGoPrograms, foldersFrom, type GoProgram } from "@evenkeel/control-plane";
import { BUILD_FLAGS, GO_FOLDER, type Program, PROGRAMS, readPins, versionKey } from "./pins.ts";

export interface BuildOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly programs?: readonly Program[];
  /** Gets a line whenever there is something to say, at least every 15 s while a program is being built. */
  readonly progress?: (line: string) => void;
}

/**
 * Makes sure that the programs exist in the user's cache folder and resolves with their folder. The first build on a
 * machine takes minutes; a later call looks at the files and returns.
 */
export async function buildTelemetry(options: BuildOptions = {}): Promise<string> {
  const { environment = process.env, programs = Object.keys(PROGRAMS) as Program[], ...rest } = options;
  const cache = join(foldersFrom(environment).cache, "..", "telemetry");
  const bin = join(cache, versionKey(readPins(), `${process.platform}-${process.arch}`), "bin");
  const programAt = (name: Program): GoProgram => {
    const { module, package: path } = PROGRAMS[name];
    return { name, folder: join(GO_FOLDER, module), package: path, flags: BUILD_FLAGS, file: join(bin, name) };
  };
  await buildGoPrograms(programs.map(programAt), { ...rest, cache });
  return bin;
}

/** The path of a program, which is built if it is missing. */
export async function telemetryBin(program: Program): Promise<string> {
  const progress = (line: string) => process.stderr.write(`  ${line}\n`);
  return join(await buildTelemetry({ programs: [program], progress }), program);
}
