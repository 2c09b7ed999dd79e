import { type Component, type Loop, type Running, termUntil } from "@evenkeel/runtime";
import { AlreadyStarted } from "../errors.ts";

/** Runs a loop from start to stop, for work that every replica does. */
export class LoopComponent implements Component {
  readonly name: string;
  readonly #loop: Loop;
  readonly #ending = new AbortController();
  #run: Promise<void> | undefined;

  constructor(name: string, loop: Loop) {
    this.name = name;
    this.#loop = loop;
  }

  start({ fail }: Running): void {
    if (this.#run) throw new AlreadyStarted({ what: this.name });
    this.#run = this.#loop(termUntil(this.#ending.signal, 0n)).catch(fail);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#run;
  }
}
