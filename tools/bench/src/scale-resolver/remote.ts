import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** What a program of this suite can be asked for. */
export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

interface Question {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: string;
}

interface RemoteOptions {
  readonly nodeFlags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A program of this suite in a process of its own, so that its work does not fall into what another measures. */
export class Remote<M extends Methods> implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", ({ id, value, failure }: Answer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failure === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(failure));
    });
    child.on("exit", (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`it ended: ${code ?? signal}`));
    });
  }

  /** Starts a program of this folder, which calls `answer` when it is ready. */
  static async start<M extends Methods>(program: string, options: RemoteOptions = {}): Promise<Remote<M>> {
    const child = fork(join(import.meta.dirname, program), {
      serialization: "advanced",
      execArgv: [...(options.nodeFlags ?? [])],
      env: options.env ?? process.env,
    });
    await Promise.race([once(child, "message"), once(child, "exit").then(() => Promise.reject(new Error(program)))]);
    return new Remote<M>(child);
  }

  get pid(): number {
    return this.#child.pid ?? NaN;
  }

  ask<K extends keyof M & string>(method: K, argument: Parameters<M[K]>[0]): Promise<Awaited<ReturnType<M[K]>>> {
    const id = this.#next++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#child.send({ id, method, argument } satisfies Question);
    return waiting.promise as Promise<Awaited<ReturnType<M[K]>>>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

/** In the program: says that it is ready, and answers from then on. */
export function answer(methods: Methods): void {
  const reply = (message: Answer) => process.send?.(message);
  process.on("message", ({ id, method, argument }: Question) => {
    const run = async () => {
      const value = await methods[method]?.(argument as never);
      return value;
    };
    run().then(
      (value) => reply({ id, value }),
      (error: unknown) => reply({ id, failure: String(error) }),
    );
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}
