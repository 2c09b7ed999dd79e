import { readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { World } from "./world.ts";

/** A proxy between a service and the API server. While it is cut, open connections break and new ones are refused. */
export class ApiServerLink implements AsyncDisposable {
  /** With which a service uses it. */
  readonly flag: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(port: number, file: string) {
    this.flag = `--kubeconfig=${file}`;
    this.#server = createServer((client) => {
      if (this.#isCut) return void client.on("error", () => undefined).resetAndDestroy();
      const beyond = connect(port, "127.0.0.1");
      for (const [one, other] of [
        [client, beyond],
        [beyond, client],
      ] as const) {
        this.#sockets.add(one);
        one.on("error", () => undefined);
        one.on("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
      client.pipe(beyond).pipe(client);
    });
  }

  static async to(world: World): Promise<ApiServerLink> {
    const file = join(world.folder, "linked");
    const link = new ApiServerLink(Number(new URL(world.api.url).port), file);
    await new Promise<void>((resolve) => void link.#server.listen(0, "127.0.0.1", resolve));
    const { port } = link.#server.address() as AddressInfo;
    const direct = await readFile(world.kubeconfig, "utf8");
    await writeFile(file, direct.replaceAll(world.api.url, `http://127.0.0.1:${port}`));
    return link;
  }

  cut(): void {
    this.#isCut = true;
    this.break();
  }

  restore(): void {
    this.#isCut = false;
  }

  /** Breaks open connections; new ones are proxied. */
  break(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
