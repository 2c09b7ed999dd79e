import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceProcess } from "@evenkeel/testkit";

const main = join(import.meta.dirname, "../../ballast/src/main-with-peers.ts");

/** A real process of the fixture service, with a tank of its own whose level is 30 at first. */
export class Ballast implements AsyncDisposable {
  readonly service: ServiceProcess;
  readonly #folder: string;

  private constructor(folder: string, service: ServiceProcess) {
    this.#folder = folder;
    this.service = service;
  }

  static async start(...flags: readonly string[]): Promise<Ballast> {
    const folder = await mkdtemp(join(tmpdir(), "cli-ballast-"));
    await writeFile(join(folder, "level"), "30\n");
    const own = [`--level-file=${join(folder, "level")}`, "--interval=20ms", "--port=0", "--insecure", "--grpc-port=0"];
    return new Ballast(folder, ServiceProcess.start(main, [...own, ...flags]));
  }

  /** The address of its admin port, once it has decided that all is well. */
  async address(): Promise<string> {
    await this.service.line(({ reason }) => reason === "WithinTolerance");
    return this.service.url("admin", "");
  }

  /** At once and as a whole: half a file would be no level. */
  async setLevel(level: number): Promise<void> {
    await writeFile(join(this.#folder, "next"), `${level}\n`);
    await rename(join(this.#folder, "next"), join(this.#folder, "level"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
