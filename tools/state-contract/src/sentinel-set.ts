import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { eventually } from "@evenkeel/runtime/testing";
import { findRedisServer, freePorts, RedisServer } from "./redis-server.ts";

const MASTER = "evenkeel";

/**
 * How long the set may take to form, in milliseconds: replicas attach within seconds, Sentinels find each other by
 * gossip.
 */
const FORM = 20_000;

/** A master, two replicas and three Sentinels that agree by two, on loopback. */
export class SentinelSet {
  readonly servers: readonly RedisServer[];
  readonly #sentinels: readonly { readonly port: number; readonly process: ChildProcess }[];
  readonly #folder: string;

  private constructor(
    servers: readonly RedisServer[],
    sentinels: readonly { readonly port: number; readonly process: ChildProcess }[],
    folder: string,
  ) {
    this.servers = servers;
    this.#sentinels = sentinels;
    this.#folder = folder;
  }

  /** Resolves when both replicas follow the master and every Sentinel knows all the others and both replicas. */
  static async start(): Promise<SentinelSet> {
    const binary = findRedisServer();
    if (binary === undefined) throw new Error("redis-server is not installed");
    const master = await RedisServer.start();
    const following = ["--replicaof", "127.0.0.1", String(master.port)];
    // A diskless copy would wait five seconds for more replicas to come.
    const quick = ["--repl-diskless-sync-delay", "0"];
    const replicas = await Promise.all([1, 2].map(() => RedisServer.start("none", [...following, ...quick])));
    const folder = mkdtempSync(join(tmpdir(), "evenkeel-sentinel-"));
    const sentinels = (await freePorts(3)).map((port) => {
      const file = join(folder, `${port}.conf`);
      writeFileSync(file, sentinelConfig(port, master.port, folder));
      return { port, process: spawn(binary, [file, "--sentinel"], { stdio: "ignore" }) };
    });
    const set = new SentinelSet([master, ...replicas], sentinels, folder);
    await eventually(() => set.#hasFormed(), FORM);
    return set;
  }

  /** As EVENKEEL_STATE takes it. */
  get address(): string {
    return `redis+sentinel://${this.#sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${MASTER}`;
  }

  /** The master according to the Sentinels. */
  async master(): Promise<RedisServer> {
    const [, port] = await this.#ask(
      0,
      (client) => client.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER) as Promise<string[]>,
    );
    const master = this.servers.find((server) => server.port === Number(port));
    if (!master) throw new Error(`no Redis server has the master's port ${port ?? "unknown"}`);
    return master;
  }

  async end(): Promise<void> {
    for (const { process } of this.#sentinels) process.kill("SIGKILL");
    for (const server of this.servers) await server.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #hasFormed(): Promise<boolean> {
    const formed = await Promise.all(
      this.#sentinels.map(async (_, index) => {
        const facts = (await this.#ask(index, (client) => client.call("SENTINEL", "MASTER", MASTER))) as string[];
        const fact = (name: string) => facts[facts.indexOf(name) + 1];
        return fact("num-slaves") === "2" && fact("num-other-sentinels") === "2" && fact("flags") === "master";
      }),
    );
    const links = await Promise.all(
      this.servers
        .slice(1)
        .map((server) =>
          server.ask(async (client) => (await client.info("replication")).includes("master_link_status:up")),
        ),
    );
    return [...formed, ...links].every(Boolean);
  }

  async #ask<T>(index: number, question: (client: Redis) => Promise<T>): Promise<T> {
    const port = this.#sentinels[index]?.port ?? 0;
    const client = new Redis(port, "127.0.0.1", { lazyConnect: true, retryStrategy: null, commandTimeout: 5000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await question(client);
    } finally {
      if (client.status !== "end") client.disconnect();
    }
  }
}

/** A second of silence is death, so that a fail-over fits into a test. */
function sentinelConfig(port: number, master: number, folder: string): string {
  return [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${master} 2`,
    `sentinel down-after-milliseconds ${MASTER} 1000`,
    `sentinel failover-timeout ${MASTER} 5000`,
    `sentinel parallel-syncs ${MASTER} 2`,
    "",
  ].join("\n");
}
