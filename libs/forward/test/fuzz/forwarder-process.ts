import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Forwarded } from "./seen.ts";

export interface ForwardedTo {
  readonly node: readonly Forwarded[];
  readonly go: readonly Forwarded[];
  /** What it logged as an error. */
  readonly defects: readonly string[];
  /** How many requests it has refused for their shape, from the beginning on. */
  readonly refused: number;
}

/** The forwarder in a process of its own, so that a crash is one. */
export class ForwarderProcess {
  readonly nodePort: number;
  readonly goPort: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, [nodePort, goPort]: readonly [number, number]) {
    this.#child = child;
    this.nodePort = nodePort;
    this.goPort = goPort;
  }

  static async start(nodeUpstream: number, goUpstream: number): Promise<ForwarderProcess> {
    const child = fork(join(import.meta.dirname, "forwarder.ts"), [String(nodeUpstream), String(goUpstream)], {
      execArgv: ["--no-warnings"],
    });
    return new ForwarderProcess(child, await answer<[number, number]>(child));
  }

  /** Whether it still runs. An exception that nobody caught would have ended it. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when nothing is left of the clients that were here. */
  async settled(): Promise<void> {
    for (let patience = 200; ; patience--) {
      this.#child.send("open?");
      const open = await answer<Readonly<Record<string, number>>>(this.#child);
      if (Object.values(open).every((count) => count === 0)) return;
      if (patience === 0) throw new Error(`still open: ${JSON.stringify(open)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** What it sent on since the last question. */
  forwarded(): Promise<ForwardedTo> {
    this.#child.send("forwarded?");
    return answer<ForwardedTo>(this.#child);
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const gone = once(child, "exit", { signal: ended.signal }).then(([code, signal]) => {
    throw new Error(`the forwarder ended with ${String(code ?? signal)}`);
  });
  try {
    const [message] = (await Promise.race([once(child, "message", { signal: ended.signal }), gone])) as [T];
    return message;
  } finally {
    ended.abort();
    gone.catch(() => undefined);
  }
}
