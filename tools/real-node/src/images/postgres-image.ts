import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@evenkeel/charts";
import { type TarEntry, writeImageArchive } from "@evenkeel/control-plane";
import { NODE_PROGRAM, nodeLayer, NONROOT, programLayer } from "./node-layer.ts";

/** Debian's PostgreSQL of this machine, server and psql, and Node, for pods of tests. */
export const POSTGRES_IMAGE = "localhost/evenkeel/postgres:debian";

const INSTALLED = "/usr/lib/postgresql";
const PROGRAMS = ["initdb", "pg_isready", "postgres", "psql"];
/** Modules that initdb loads. */
const MODULES = ["dict_snowball.so", "plpgsql.so"];

/** The newest version of PostgreSQL that Debian's packages have installed; undefined if there is none. */
export function postgresVersion(): string | undefined {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
  return versions.sort((a, b) => Number(b) - Number(a)).find((one) => existsSync(join(INSTALLED, one, "bin/postgres")));
}

/** Writes the image; its PATH has PostgreSQL's programs, the shell that initdb needs, and Node. */
export function writePostgresImage(): string {
  const version = postgresVersion();
  if (version === undefined) throw new Error("PostgreSQL is not installed (Debian: postgresql)");
  const file = join(root, "tools/real-node/dist/postgres-image.tar");
  const bin = join(INSTALLED, version, "bin");
  const programs = [...PROGRAMS.map((name) => join(bin, name)), "/bin/sh"].flatMap(programLayer);
  const modules = MODULES.map((name) => join(INSTALLED, version, "lib", name)).flatMap(programLayer);
  const node = nodeLayer();
  const below = new Set(node.map(({ path }) => path));
  const own = new Map(
    [...programs, ...modules, ...filesOf(`/usr/share/postgresql/${version}`)].map((entry) => [entry.path, entry]),
  );
  writeImageArchive(file, {
    name: POSTGRES_IMAGE,
    layers: [node, [...own.values()].filter(({ path }) => !below.has(path))],
    config: { User: `${NONROOT}:${NONROOT}`, Env: [`PATH=${bin}:/bin:/nodejs/bin`], Entrypoint: [NODE_PROGRAM] },
  });
  return file;
}

/** The files of a folder of this machine, at the same path. */
function filesOf(folder: string): TarEntry[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesOf(path) : [{ path: path.slice(1), content: readFileSync(path) }];
  });
}
