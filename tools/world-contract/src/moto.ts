import { execFile, spawn } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Route53Client, type Route53Harness } from "@evenkeel/sim/contract";
import { answering, end, freePort } from "./answering.ts";

const MOTO_VERSION = "5.2.5";

/** How long moto may take to answer after its start on a busy machine, in milliseconds. */
const START = 60_000;

const run = promisify(execFile);

/** Whether this python3 can make the environment that moto is installed in. */
export async function hasPython(): Promise<boolean> {
  return run("python3", ["-c", "import venv, ensurepip"]).then(
    () => true,
    () => false,
  );
}

/** Brings up moto's server for the Route 53 contract. The first run on a machine installs it from PyPI. */
export async function startMoto(): Promise<Route53Harness> {
  const folder = await installedMoto();
  const port = await freePort();
  // The scripts of an environment hold the path that it was made at; the module does not.
  const args = ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)];
  const moto = spawn(join(folder, "bin", "python3"), args, { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await answering(`${url}/moto-api/data.json`, moto, START).catch(async (error: unknown) => {
    await end(moto);
    throw error;
  });
  const client = new Route53Client(url);
  return {
    url,
    createZone: (name) => client.createZone(name),
    propagate: () => Promise.resolve(),
    stop: () => end(moto),
  };
}

/**
 * The folder of an environment with moto. It appears under its name only when it is whole, whoever else makes it
 * meanwhile.
 */
async function installedMoto(): Promise<string> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const parent = join(cache, "evenkeel", "moto");
  const folder = join(parent, MOTO_VERSION);
  if (await exists(join(folder, "bin", "moto_server"))) return folder;
  await mkdir(parent, { recursive: true });
  const fresh = await mkdtemp(join(parent, "new-"));
  try {
    await run("python3", ["-m", "venv", fresh]);
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `moto[server]==${MOTO_VERSION}`];
    await run(join(fresh, "bin", "python3"), install);
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(join(folder, "bin", "moto_server")))) throw error;
  }
  return folder;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
