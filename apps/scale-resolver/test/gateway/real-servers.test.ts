import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@evenkeel/runtime/testing";
import { findRedisServer, RedisServer } from "@evenkeel/state-contract";
import { expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { endpointOf, freePort } from "./pod-server.ts";

const run = promisify(execFile);

const INSTALLED = "/usr/lib/postgresql";
/** The folder of PostgreSQL's programs, as Debian installs them; undefined if there is no server. */
const programs = (existsSync(INSTALLED) ? readdirSync(INSTALLED) : [])
  .map((version) => join(INSTALLED, version, "bin"))
  .findLast((folder) => existsSync(join(folder, "postgres")));

const noRedis = findRedisServer() === undefined ? " (skipped: Redis is not installed; Debian: redis-server)" : "";
const noPostgres = programs === undefined ? " (skipped: PostgreSQL is not installed; Debian: postgresql)" : "";
const withRedis = noRedis === "" ? test : test.skip;
const withPostgres = noPostgres === "" ? test : test.skip;

/** PostgreSQL does not run as root. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (which: string) => Number(execFileSync("id", [which, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** A database in a folder of its own, which accepts connections after `start`. */
class Postgres implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "evenkeel-postgres-"));
  readonly #account = account();
  readonly #bin: string;
  #process: ChildProcess | undefined;

  constructor(bin: string) {
    this.#bin = bin;
    const { uid, gid } = this.#account;
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
    const args = ["-D", join(this.#folder, "data"), "-U", "shop", "--auth=trust", "--no-sync"];
    execFileSync(join(bin, "initdb"), args, { ...this.#account, cwd: this.#folder, stdio: "pipe" });
  }

  start(port: number): void {
    const args = ["-D", join(this.#folder, "data"), "-p", String(port), "-k", this.#folder, "-h", HOST, "-F"];
    const program = join(this.#bin, "postgres");
    this.#process = spawn(program, args, { ...this.#account, cwd: this.#folder, stdio: "ignore" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process && this.#process.exitCode === null) {
      this.#process.kill("SIGQUIT");
      await once(this.#process, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

withRedis(
  `a command to a real Redis at zero waits until the server has started, and is answered${noRedis}`,
  async () => {
    await using world = await GateWorld.start();
    const port = await world.put();
    const socket = connect(port, HOST);
    socket.write("*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n");
    await eventually(() => world.gate.activity(KEY).pending === 1);
    const listen = await freePort();
    world.gate.endpoints(KEY, [endpointOf(HOST, listen)]);
    await using server = await RedisServer.startOn(listen, "none");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toBe("$5\r\nhello\r\n");
    expect(server.port).toBe(listen);
    socket.destroy();
  },
  60_000,
);

withPostgres(
  `psql waits until a real PostgreSQL has started, and gets its rows${noPostgres}`,
  async () => {
    await using world = await GateWorld.start();
    await using server = new Postgres(programs ?? "");
    const port = await world.put();
    const args = ["-h", HOST, "-p", String(port), "-U", "shop", "-d", "postgres", "-Atc", "select 6 * 7"];
    const asked = run(join(programs ?? "", "psql"), args);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    expect(world.wakes).toEqual([KEY]);
    const listen = await freePort();
    server.start(listen);
    // As the readiness probe of a pod does.
    await eventually(() => run(join(programs ?? "", "pg_isready"), ["-h", HOST, "-p", String(listen)]), 60_000);
    world.gate.endpoints(KEY, [endpointOf(HOST, listen)]);
    expect((await asked).stdout).toBe("42\n");
  },
  120_000,
);
