import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { waitUntil } from "@evenkeel/control-plane";
import { telemetryBin } from "./build.ts";

/** What a collector has scraped of one job and instance. */
export interface ScrapedTarget {
  readonly job: string;
  readonly instance: string;
  readonly samples: number;
  /** The last thousand, in milliseconds, and whether the target answered. */
  readonly scrapes: readonly { readonly at: number; readonly up: boolean }[];
}

export interface CollectorOptions {
  /** As a pod's container has it. Its pipelines end in the exporter `counting`, which needs no settings. */
  readonly config: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Several collectors share this machine: none may have the port on which one serves its own metrics by default. */
const OVERLAY = (socket: string): string => `
exporters:
  counting:
    socket: ${JSON.stringify(socket)}
service:
  telemetry:
    metrics:
      level: none
`;

/** A real OpenTelemetry collector as a process on this machine. */
export class Collector implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #socket: string;
  readonly #ended: Promise<void>;
  #exit: string | undefined;

  private constructor(program: string, { config, env = {} }: CollectorOptions) {
    this.#folder = mkdtempSync(join(tmpdir(), "otelcol-"));
    this.#socket = join(this.#folder, "counts.sock");
    const files = { "config.yaml": config, "overlay.yaml": OVERLAY(this.#socket) };
    const flags = Object.entries(files).map(([name, text]) => {
      writeFileSync(join(this.#folder, name), text);
      return `--config=file:${join(this.#folder, name)}`;
    });
    const log = openSync(this.#logFile, "a");
    this.#child = spawn(program, flags, { env: { ...process.env, ...env }, stdio: ["ignore", log, log] });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#exit ??= how;
        resolve();
      };
      this.#child.on("error", (error) => end(`could not be started: ${error.message}`));
      this.#child.on("exit", (code, signal) => end(`ended with ${signal ?? `code ${code ?? "unknown"}`}`));
    });
  }

  /**
   * Resolves when the exporter runs. The receiver may still be waiting for its first answer of a target allocator.
   * Rejects with the log if the collector refuses its configuration.
   */
  static async start(options: CollectorOptions): Promise<Collector> {
    const collector = new Collector(await telemetryBin("otelcol"), options);
    await waitUntil("the collector's exporter answers", () => collector.#whyNoCounts(), { deadlineMs: 30_000 });
    if (collector.#exit === undefined) return collector;
    const { log } = collector;
    await collector[Symbol.asyncDispose]();
    throw new Error(`the collector ${collector.#exit}:\n${log}`);
  }

  /** Everything that it has written so far. */
  get log(): string {
    return readFileSync(this.#logFile, "utf8");
  }

  /** What it has scraped since it started. */
  async counts(): Promise<ScrapedTarget[]> {
    const { promise, resolve, reject } = Promise.withResolvers<ScrapedTarget[]>();
    const call = request({ socketPath: this.#socket, agent: false }, (answer) => {
      json(answer).then((body) => resolve(body as ScrapedTarget[]), reject);
    });
    call.on("error", reject).end();
    return promise;
  }

  /** Ends it as a kubelet does, or as a crash does with SIGKILL. Its counts are gone with it. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #logFile(): string {
    return join(this.#folder, "log");
  }

  /** A collector that has ended gives no counts any more. */
  async #whyNoCounts(): Promise<string | undefined> {
    if (this.#exit !== undefined) return undefined;
    return this.counts().then(
      () => undefined,
      (error: unknown) => String(error),
    );
  }
}
