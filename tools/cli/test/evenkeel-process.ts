import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Ended } from "./evenkeel.ts";

export interface EvenkeelOptions {
  readonly main?: "src/main.ts" | "test/main-with-ballast.ts";
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The program as a real process, on nobody's cluster unless told. */
export class EvenkeelProcess implements AsyncDisposable {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";
  #news = Promise.withResolvers<undefined>();
  #over = false;

  constructor(args: readonly string[], { main = "src/main.ts", env = {}, cwd }: EvenkeelOptions = {}) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, "..", main), ...args], {
      cwd,
      env: { ...process.env, KUBECONFIG: "", HOME: "/nonexistent", ...env },
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#hear(() => (this.#stdout += chunk.toString())));
    this.#child.stderr?.on("data", (chunk: Buffer) => this.#hear(() => (this.#stderr += chunk.toString())));
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        this.#hear(() => (this.#over = true));
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves once what it has written fits; fails when it ends without. */
  async until(fits: (process: EvenkeelProcess) => boolean): Promise<void> {
    while (!fits(this)) {
      if (this.#over) throw new Error(`it ended, having written:\n${this.#stdout}\n${this.#stderr}`);
      await this.#news.promise;
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  #hear(note: () => void): void {
    note();
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers();
  }
}
