import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { waitUntil } from "@evenkeel/control-plane";

/** A real redis-server on loopback that remembers nothing. */
export class Redis implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(port: number) {
    this.url = `redis://127.0.0.1:${port}`;
    const memory = ["--save", "", "--appendonly", "no"];
    const args = ["--port", String(port), "--bind", "127.0.0.1", ...memory];
    this.#process = spawn("redis-server", args, { stdio: "ignore" });
  }

  static async start(): Promise<Redis> {
    const port = await freePort();
    const redis = new Redis(port);
    await once(redis.#process, "spawn");
    await waitUntil("redis-server to take connections", async () => {
      const socket = connect(port, "127.0.0.1");
      try {
        await once(socket, "connect");
        return undefined;
      } catch (error) {
        return String(error);
      } finally {
        socket.destroy();
      }
    });
    return redis;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
