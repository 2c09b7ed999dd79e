import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Exit, type Line, ServiceProcess } from "@evenkeel/testkit";

const sources = join(import.meta.dirname, "../src");

/** A real ballast process with a tank of its own, on ports of the system's choosing. */
export class BallastProcess implements AsyncDisposable {
  readonly folder: string;
  readonly #process: ServiceProcess;

  private constructor(folder: string, process: ServiceProcess) {
    this.folder = folder;
    this.#process = process;
  }

  /** Starts it with a level of 30 and the given flags. */
  static async start(flags: readonly string[] = [], main = "main.ts"): Promise<BallastProcess> {
    const folder = await mkdtemp(join(tmpdir(), "ballast-"));
    await writeFile(join(folder, "level"), "30\n");
    const defaults = { "level-file": join(folder, "level"), port: "0", interval: "20ms" };
    const given = (name: string) => flags.some((flag) => flag.startsWith(`--${name}`));
    const rest = Object.entries(defaults).flatMap(([name, value]) => (given(name) ? [] : [`--${name}=${value}`]));
    return new BallastProcess(folder, ServiceProcess.start(join(sources, main), [...flags, ...rest]));
  }

  get exit(): Promise<Exit> {
    return this.#process.exit;
  }

  get lines(): readonly Line[] {
    return this.#process.lines;
  }

  line(fits: (line: Line) => boolean): Promise<Line> {
    return this.#process.line(fits);
  }

  phase(name: string): Promise<Line> {
    return this.#process.phase(name);
  }

  url(door: "admin" | "health" | "harbour", path: string): Promise<string> {
    return this.#process.url(door, path);
  }

  stopReading(): void {
    this.#process.stopReading();
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.signal(signal);
  }

  /** At once: a reader sees the old level or the new one. */
  async setLevel(text: string): Promise<void> {
    await writeFile(join(this.folder, "next"), text);
    await rename(join(this.folder, "next"), join(this.folder, "level"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}
