import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Line = Readonly<Record<string, unknown>>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

const sources = join(import.meta.dirname, "../src");

/** A real ballast process with a tank of its own, on ports of the system's choosing. */
export class BallastProcess implements AsyncDisposable {
  readonly folder: string;
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #lines: Line[] = [];
  #news = Promise.withResolvers<undefined>();
  #ended = false;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.#child = child;
    let stdout = "";
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    if (child.stdout) {
      createInterface(child.stdout).on("line", (line) => {
        stdout += `${line}\n`;
        if (line.startsWith("{")) this.#lines.push(JSON.parse(line) as Line);
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

  /** Starts it with a level of 30 and the given flags. */
  static async start(flags: readonly string[] = [], main = "main.ts"): Promise<BallastProcess> {
    const folder = await mkdtemp(join(tmpdir(), "ballast-"));
    await writeFile(join(folder, "level"), "30\n");
    const given = (name: string) => flags.some((flag) => flag.startsWith(`--${name}`));
    const defaults = {
      "level-file": join(folder, "level"),
      "listen-host": "127.0.0.1",
      "admin-port": "0",
      "health-port": "0",
      port: "0",
      interval: "20ms",
      "shutdown-delay": "0",
    };
    const rest = Object.entries(defaults).flatMap(([name, value]) => (given(name) ? [] : [`--${name}=${value}`]));
    const child = spawn(process.execPath, [join(sources, main), ...flags, ...rest]);
    return new BallastProcess(folder, child);
  }

  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** The first log line that fits, waiting for it; fails when the process ends without one. */
  async line(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.#lines.find(fits);
      if (found) return found;
      if (this.#ended) throw new Error(`No such line:\n${this.#lines.map((line) => JSON.stringify(line)).join("\n")}`);
      await this.#news.promise;
    }
  }

  phase(name: string): Promise<Line> {
    return this.line(({ phase }) => phase === name);
  }

  /** The address of a path behind one of its doors, once it is ready. */
  async url(door: "admin" | "health" | "harbour", path: string): Promise<string> {
    const { ports } = (await this.phase("ready")) as { ports: Record<string, number> };
    return `http://127.0.0.1:${ports[door] ?? "none"}${path}`;
  }

  /** Stops reading what it prints, as a log collector does that dies. */
  stopReading(): void {
    this.#child.stdout?.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async setLevel(text: string): Promise<void> {
    await writeFile(join(this.folder, "level"), text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.exit;
    await rm(this.folder, { recursive: true, force: true });
  }

  #tell(): void {
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers();
  }
}
