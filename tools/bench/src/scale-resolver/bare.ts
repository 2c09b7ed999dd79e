import type { BareHolder } from "./bare-holder.ts";
import type { Holder, PodAddress } from "./holder.ts";
import { IMAGE_ENV } from "./image-flags.ts";
import { now } from "./now.ts";
import { Remote } from "./remote.ts";

/** The bare holder, informed by a message instead of a watch. */
export class Bare implements Holder {
  readonly port: number;
  readonly #process: Remote<BareHolder>;

  private constructor(process: Remote<BareHolder>, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start(nodeFlags: readonly string[]): Promise<Bare> {
    const process = await Remote.start<BareHolder>("bare-holder.ts", { nodeFlags, env: IMAGE_ENV });
    return new Bare(process, await process.ask("port", undefined));
  }

  get pid(): number {
    return this.#process.pid;
  }

  pending(): Promise<number> {
    return this.#process.ask("pending", undefined);
  }

  async release({ address, port }: PodAddress): Promise<number> {
    const at = now();
    await this.#process.ask("release", `http://${address}:${port}`);
    return at;
  }

  rest(): Promise<void> {
    return this.#process.ask("hold", undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}
