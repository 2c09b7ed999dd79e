import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import type { Cluster } from "./cluster.ts";
import type { Holder, PodAddress } from "./holder.ts";
import { IMAGE_ENV, IMAGE_FLAGS } from "./image-flags.ts";

const main = join(import.meta.dirname, "../../../../apps/scale-resolver/dist/main.mjs");

/** Milliseconds that the resolver may take for what is waited for. */
const PATIENCE = 90_000;

interface ResolverOptions {
  /** More flags for Node than the image's. */
  readonly nodeFlags?: readonly string[];
  /** More flags for the service. */
  readonly flags?: readonly string[];
}

/**
 * The bundled service as the image runs it. Its log goes to a file, since to read a line for each request would cost
 * the bench's CPU.
 */
export class Resolver implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #cluster: Cluster;
  readonly #folder: string;
  #ports = { admin: NaN, requests: NaN };

  private constructor(cluster: Cluster, { nodeFlags = [], flags: more = [] }: ResolverOptions) {
    this.#cluster = cluster;
    this.#folder = mkdtempSync(join(tmpdir(), "bench-resolver-"));
    const log = openSync(this.logPath, "w");
    const flags = [
      `--kubeconfig=${cluster.kubeconfig}`,
      "--leader-elect=false",
      "--insecure",
      "--state=sqlite::memory:",
      "--listen-host=127.0.0.1",
      "--pod-ip=127.0.0.1",
      `--port-range=${cluster.portRange}`,
      ...["port", "grpc-port", "admin-port", "health-port", "shutdown-delay"].map((name) => `--${name}=0`),
      ...more,
    ];
    this.#child = spawn(process.execPath, [...IMAGE_FLAGS, ...nodeFlags, main, ...flags], {
      stdio: ["ignore", log, log],
      env: IMAGE_ENV,
    });
    closeSync(log);
  }

  static async start(cluster: Cluster, options: ResolverOptions = {}): Promise<Resolver> {
    const resolver = new Resolver(cluster, options);
    // One that has ended does not become ready.
    await eventually(() => resolver.#child.exitCode !== null || resolver.#readPorts(), PATIENCE);
    if (resolver.#child.exitCode !== null) {
      throw new Error(`the resolver ended:\n${readFileSync(resolver.logPath, "utf8")}`);
    }
    return resolver;
  }

  get pid(): number {
    return this.#child.pid ?? NaN;
  }

  /** Where requests come in that name their Service in a header. */
  get requestsPort(): number {
    return this.#ports.requests;
  }

  /** The service `name` of the cluster as this process holds it, at zero. */
  async holding(name: string): Promise<Holder> {
    const port = await this.#cluster.port(name);
    await eventually(() => listens(port), PATIENCE);
    await this.#cluster.stands(name, "Zero");
    return {
      pid: this.pid,
      port,
      pending: () => this.#pending(name),
      release: (pod: PodAddress) => this.#cluster.ready(name, pod),
      rest: async () => {
        // First out of the wake, or the zero before it would be taken for the one that is waited for.
        await this.#cluster.stands(name, "Guard", "Serve");
        await this.#cluster.empty(name);
        await this.#cluster.stands(name, "Zero");
        // Metrics come a moment later, and those of this burst would be taken for the next one's.
        await eventually(async () => (await this.#pending(name)) === 0, PATIENCE);
      },
      [Symbol.asyncDispose]: () => this[Symbol.asyncDispose](),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL");
      await once(this.#child, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get logPath(): string {
    return join(this.#folder, "log");
  }

  #readPorts(): boolean {
    for (const line of readFileSync(this.logPath, "utf8").split("\n")) {
      if (!line.includes('"phase":"ready"')) continue;
      this.#ports = (JSON.parse(line) as { ports: { admin: number; requests: number } }).ports;
      return true;
    }
    return false;
  }

  async #pending(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#ports.admin}/metrics`)).text();
    const line = text
      .split("\n")
      .find((each) => each.startsWith("evenkeel_resolver_pending{") && each.includes(`service="${name}"`));
    return Number(line?.split(" ").at(-1) ?? 0);
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
