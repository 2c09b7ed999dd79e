import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { ControlPlaneError } from "./errors.ts";
import { endProcesses, signalProcess } from "./process-end.ts";
import { identify, isAlive, type ProcessIdentity } from "./process-identity.ts";
import type { Readiness } from "./readiness.ts";
import type { ComponentName, ComponentProcess } from "./run-record.ts";
import { waitUntil } from "./wait.ts";

/** Number of last log lines in an error. */
const ERROR_LINES = 15;

export interface ComponentSpec {
  readonly name: ComponentName;
  readonly binary: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly logFile: string;
  readonly whyNotReady: Readiness;
  /** Called with each process right after its start. */
  readonly record: (process: ComponentProcess) => void;
}

/** How a process ended, as words after its name. */
class ProcessExit {
  readonly how: string;

  constructor(how: string) {
    this.how = how;
  }
}

/** One program of a control plane. It can be restarted with the same flags, ports and log. */
export class Component {
  readonly #spec: ComponentSpec;
  #identity: ProcessIdentity | undefined;
  /** Position in the log at which the output of the last process begins. */
  #logStart = 0;

  constructor(spec: ComponentSpec) {
    this.#spec = spec;
  }

  get name(): ComponentName {
    return this.#spec.name;
  }

  /** The last process; undefined before the first start. */
  get identity(): ProcessIdentity | undefined {
    return this.#identity;
  }

  get isRunning(): boolean {
    return this.#identity !== undefined && isAlive(this.#identity);
  }

  /**
   * Starts a process in its own session, so that Ctrl-C at the terminal does not reach it, and resolves when it serves.
   * Rejects if it ends before, or after `deadlineMs`. The error names the log and has its last lines.
   */
  async start(deadlineMs: number): Promise<void> {
    const exit = this.#spawn();
    const over = new AbortController();
    const whyNot = async (): Promise<string | undefined> => {
      const news = await Promise.race([exit, this.#spec.whyNotReady(over.signal)]);
      if (news instanceof ProcessExit) throw this.#exitError(news);
      return news;
    };
    try {
      await waitUntil(`${this.name} is ready`, whyNot, { deadlineMs, everyMs: 25 });
    } catch (error) {
      if (!(error instanceof ControlPlaneError) || error.code !== "EK_CLUSTER_DEADLINE") throw error;
      throw new ControlPlaneError("EK_CLUSTER_DEADLINE", `${error.message}\n${this.#logTail()}`, { cause: error });
    } finally {
      over.abort();
    }
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#identity !== undefined) signalProcess(this.#identity, signal);
  }

  async end(graceMs?: number): Promise<void> {
    if (this.#identity !== undefined) await endProcesses([this.#identity], graceMs);
  }

  /** Resolves when the new process ends. */
  #spawn(): Promise<ProcessExit> {
    const { name, binary, args, environment, cwd, logFile, record } = this.#spec;
    const log = openSync(logFile, "a", 0o600);
    this.#logStart = fstatSync(log).size;
    const child = spawn(binary, args, { cwd, env: environment, stdio: ["ignore", log, log], detached: true });
    closeSync(log);
    child.unref();
    this.#identity = child.pid === undefined ? undefined : identify(child.pid);
    if (this.#identity !== undefined) record({ component: name, ...this.#identity });
    return new Promise((resolve) => {
      child.once("error", (error) => resolve(new ProcessExit(`could not be started: ${error.message}`)));
      child.once("exit", (code, signal) => {
        resolve(new ProcessExit(`ended with ${signal ?? `code ${code ?? "unknown"}`}`));
      });
    });
  }

  #exitError({ how }: ProcessExit): ControlPlaneError {
    const tail = this.#logTail();
    const taken = tail.includes("address already in use");
    return new ControlPlaneError(
      taken ? "EK_CLUSTER_PORT_TAKEN" : "EK_CLUSTER_COMPONENT_EXITED",
      `${this.name} ${how} before it was ready${taken ? ": its port is taken" : ""}\n${tail}`,
    );
  }

  #logTail(): string {
    const output = readFileSync(this.#spec.logFile).subarray(this.#logStart).toString("utf8").trimEnd();
    const lines = output === "" ? ["(empty)"] : output.split("\n").slice(-ERROR_LINES);
    return [`last lines of ${this.#spec.logFile}:`, ...lines.map((line) => `  ${line}`)].join("\n");
  }
}
