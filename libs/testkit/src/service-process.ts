import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A line of a service's log. */
export type Line = Readonly<Record<string, unknown>>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ServiceProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** In a process group of its own, which a terminal's Ctrl-C does not reach. */
  readonly detached?: boolean;
  readonly onLine?: (line: Line) => void;
  /** For Node itself, before the program. */
  readonly nodeFlags?: readonly string[];
}

/** Flags with which several can run on one machine and end quickly. */
const LOCAL = { "listen-host": "127.0.0.1", "admin-port": "0", "health-port": "0", "shutdown-delay": "0" };

/**
 * Compiled code of bundles, which saves a third of the CPU of a start. Node writes it when a process ends by itself.
 */
const COMPILED = join(tmpdir(), "evenkeel-compile-cache");

/** A service's real main as a process of its own, on ports of the system's choosing unless flags say otherwise. */
export class ServiceProcess implements AsyncDisposable {
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #lines: Line[] = [];
  #news = Promise.withResolvers<undefined>();
  #ended = false;

  private constructor(child: ChildProcess, onLine: (line: Line) => void) {
    this.#child = child;
    let stdout = "";
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    if (child.stdout) {
      createInterface(child.stdout).on("line", (line) => {
        stdout += `${line}\n`;
        if (line.startsWith("{")) {
          const parsed = JSON.parse(line) as Line;
          this.#lines.push(parsed);
          onLine(parsed);
        }
        this.#tell();
      });
    }
    this.exit = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        this.#ended = true;
        this.#tell();
        resolve({ code, signal, stdout, stderr });
      });
    });
  }

  /**
   * Starts the program `main` with flags as the command line has them; those that are not given are such as tests need.
   */
  static start(main: string, flags: readonly string[] = [], options: ServiceProcessOptions = {}): ServiceProcess {
    const { env = process.env, detached = false, onLine = () => undefined, nodeFlags = [] } = options;
    const given = (name: string) => flags.some((flag) => flag.startsWith(`--${name}`));
    const rest = Object.entries(LOCAL).flatMap(([name, value]) => (given(name) ? [] : [`--${name}=${value}`]));
    return new ServiceProcess(
      spawn(process.execPath, [...nodeFlags, main, ...flags, ...rest], {
        env: { NODE_COMPILE_CACHE: COMPILED, ...env },
        detached,
      }),
      onLine,
    );
  }

  get lines(): readonly Line[] {
    return this.#lines;
  }

  get pid(): number {
    return this.#child.pid ?? NaN;
  }

  /** The first log line that fits, waiting for it; fails when the process ends without one. */
  async line(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.#lines.find(fits);
      if (found) return found;
      if (this.#ended) {
        const { stderr } = await this.exit;
        throw new Error(`No such line:\n${this.#lines.map((line) => JSON.stringify(line)).join("\n")}\n${stderr}`);
      }
      await this.#news.promise;
    }
  }

  phase(name: string): Promise<Line> {
    return this.line(({ phase }) => phase === name);
  }

  /** The address of a path on one of its listeners, once it is ready. */
  async url(listener: string, path: string): Promise<string> {
    const { ports } = (await this.phase("ready")) as { ports: Record<string, number> };
    return `http://127.0.0.1:${ports[listener] ?? "none"}${path}`;
  }

  /** Stops reading what it prints, as a log collector does that dies. */
  stopReading(): void {
    this.#child.stdout?.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.exit;
  }

  #tell(): void {
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers();
  }
}
