import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Redis } from "ioredis";
import { eventually } from "@evenkeel/runtime/testing";

/** The path of redis-server; nothing where it is not installed (Debian: redis-server). */
export function findRedisServer(path: string = process.env["PATH"] ?? ""): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, "redis-server"))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** `none` forgets everything with the process; `always` has each write on disk before it is acknowledged. */
export type Persistence = "none" | "always";

/** How long a server may take to answer after its start, in milliseconds. */
const START = 10_000;

/** A real redis-server on loopback, which can be killed, hung and started again on its port. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly folder: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.folder = mkdtempSync(join(tmpdir(), "evenkeel-redis-"));
    this.#args = args;
  }

  static async start(persistence: Persistence = "none", extra: readonly string[] = []): Promise<RedisServer> {
    const [port = 0] = await freePorts(1);
    return RedisServer.startOn(port, persistence, extra);
  }

  static async startOn(port: number, persistence: Persistence, extra: readonly string[] = []): Promise<RedisServer> {
    const aof = persistence === "always" ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
    const server = new RedisServer(port, ["--save", "", ...aof, ...extra]);
    await server.run();
    return server;
  }

  get address(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the process, again after `kill`. */
  async run(): Promise<void> {
    const binary = findRedisServer();
    if (binary === undefined) throw new Error("redis-server is not installed");
    const args = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.folder, ...this.#args];
    this.#process = spawn(binary, args, { stdio: "ignore" });
    await eventually(() => this.ask(async (client) => [await client.ping()]), START);
  }

  /** kill -9. Resolves when the process is gone. */
  async kill(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.once("exit", resolve);
    running.kill("SIGKILL");
    await promise;
  }

  /** SIGSTOP: connections stay open and nothing answers. */
  hang(): void {
    this.#process?.kill("SIGSTOP");
  }

  goOn(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Asks the server itself, past the library under test. */
  async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.port, "127.0.0.1", { lazyConnect: true, retryStrategy: null, commandTimeout: 5000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await question(client);
    } finally {
      if (client.status !== "end") client.disconnect();
    }
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/** Loopback ports without listeners. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<{ port: number; close: () => Promise<void> }>();
      const server = createServer();
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as { port: number };
        resolve({ port, close: () => new Promise((closed) => server.close(() => closed())) });
      });
      return promise;
    }),
  );
  await Promise.all(servers.map(({ close }) => close()));
  return servers.map(({ port }) => port);
}
