import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, type ApiServerOptions, startApiServer } from "@evenkeel/sim";
import { definitionOf } from "./definition.ts";
import { ADMIN, kubeconfigFor } from "./kubeconfig.ts";
import { ServiceProcess, type ServiceProcessOptions } from "./service-process.ts";

export interface WorldOptions {
  /** Of the service; folders are named after it. */
  readonly service: string;
  /** The service's program: what its image holds, which `nx run <service>:bundle` makes. */
  readonly main: string;
  /** Plural names of the kinds that the API server serves, such as `rebalances`. */
  readonly kinds?: readonly string[];
  /** What the service's process is started with, unless a case says otherwise. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Of the API server; `ADMIN` is its only user unless told. */
  readonly server?: Partial<ApiServerOptions>;
}

/** What a world is built from. */
export interface WorldParts {
  readonly options: WorldOptions;
  readonly folder: string;
  readonly api: ApiServer;
}

/**
 * What lets a service run alone: state in memory, plaintext gRPC on a free port, and a lease that changes hands in
 * seconds.
 */
const DEFAULTS = {
  state: "sqlite::memory:",
  insecure: "true",
  "grpc-port": "0",
  "lease-duration": "3s",
  "lease-renew-deadline": "2s",
  "lease-retry-period": "300ms",
};

/**
 * Starts an API server in this process and writes a kubeconfig for its administrator. Throws if the service's program
 * is missing.
 */
export async function worldParts(options: WorldOptions): Promise<WorldParts> {
  const { service, main } = options;
  if (!existsSync(main)) throw new Error(`${main} does not exist: run \`nx run ${service}:bundle\` first`);
  const folder = await mkdtemp(join(tmpdir(), `${options.service}-`));
  const api = await startApiServer({ users: [ADMIN], ...options.server });
  for (const kind of options.kinds ?? []) api.load(definitionOf(kind));
  await writeFile(join(folder, "kubeconfig"), kubeconfigFor(api.url), { mode: 0o600 });
  return { options, folder, api };
}

/**
 * A cluster in this process, and a service's real main as a process on it. A service's own world extends it with the
 * parts that the service talks to; what is given to `use` stops with the world, the last one first and all processes
 * before anything else.
 */
export class World implements AsyncDisposable {
  readonly folder: string;
  readonly api: ApiServer;
  readonly kubeconfig: string;
  readonly #options: WorldOptions;
  readonly #processes: ServiceProcess[] = [];
  readonly #parts: Part[] = [];

  constructor({ options, folder, api }: WorldParts) {
    this.#options = options;
    this.folder = folder;
    this.api = api;
    this.kubeconfig = join(folder, "kubeconfig");
    this.#parts.push({ stop: () => rm(folder, { recursive: true, force: true }) }, api);
  }

  /** Stops `part` with the world. */
  use<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** The flags that a service in this world needs; those that are given win. */
  flags(given: readonly string[] = []): readonly string[] {
    const isGiven = (name: string) => given.some((flag) => flag === `--${name}` || flag.startsWith(`--${name}=`));
    const wanted = Object.entries({ kubeconfig: this.kubeconfig, ...DEFAULTS, ...this.#options.flags });
    return [...given, ...wanted.flatMap(([name, value]) => (isGiven(name) ? [] : [`--${name}=${value}`]))];
  }

  /** Starts the service as a process of its own; `await service.phase("ready")` waits until it serves. */
  serve(flags: readonly string[] = [], options: ServiceProcessOptions = {}): ServiceProcess {
    const service = ServiceProcess.start(this.#options.main, this.flags(flags), options);
    this.#processes.push(service);
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((service) => service[Symbol.asyncDispose]()));
    for (const part of this.#parts.toReversed()) await ("stop" in part ? part.stop() : part[Symbol.asyncDispose]());
  }
}

type Part = { stop(): Promise<void> } | AsyncDisposable;
