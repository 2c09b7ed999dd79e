import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Origin } from "../../src/index.ts";
import type { Transport } from "./transport.ts";

/** One end of a connection on which a test writes and reads bytes as they are. Text is latin1. */
export class Wire {
  readonly socket: Socket;
  received = "";
  ended = false;
  closed = false;
  failed: Error | undefined;
  #heard: (() => void)[] = [];
  readonly #raw: Socket;

  /** `raw` is the connection under TLS. */
  constructor(socket: Socket, raw = socket) {
    this.socket = socket;
    this.#raw = raw;
    socket.setNoDelay(true);
    socket.on("data", (data) => {
      this.received += data.toString("latin1");
      this.#tell();
    });
    socket.on("end", () => {
      this.ended = true;
      this.#tell();
    });
    socket.on("error", (error) => (this.failed = error));
    socket.on("close", () => {
      this.closed = true;
      this.#tell();
    });
  }

  static async to(port: number, options: { readonly allowHalfOpen?: boolean } = {}): Promise<Wire> {
    const socket = connect({ port, host: "127.0.0.1", ...options });
    await once(socket, "connect");
    return new Wire(socket);
  }

  send(text: string): this {
    this.socket.write(text, "latin1");
    return this;
  }

  /** Resolves with all that was received once `what` is in it; rejects if the connection ends without. */
  async until(what: string | RegExp): Promise<string> {
    const found = () => (typeof what === "string" ? this.received.includes(what) : what.test(this.received));
    await this.#when(found, () => `${String(what)} in ${JSON.stringify(this.received)}`);
    return this.received;
  }

  /** Resolves with all that was received once the other side has ended, or broken, the connection. */
  async end(): Promise<string> {
    await this.#when(
      () => this.ended || this.closed,
      () => `the end after ${JSON.stringify(this.received)}`,
    );
    return this.received;
  }

  /** Breaks the connection with a reset. */
  reset(): void {
    this.#raw.resetAndDestroy();
  }

  /** Forgets what was received. */
  clear(): void {
    this.received = "";
  }

  async #when(holds: () => boolean, describe: () => string): Promise<void> {
    const late = Date.now() + 10_000;
    while (!holds()) {
      if (this.closed || (this.ended && !this.socket.allowHalfOpen) || Date.now() > late) {
        throw new Error(`waited in vain for ${describe()}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 500);
        this.#heard.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #tell(): void {
    const heard = this.#heard;
    this.#heard = [];
    for (const hear of heard) hear();
  }
}

/** A server that a test plays by hand, connection by connection. */
export class WireServer implements AsyncDisposable {
  readonly #server: Server;
  readonly wires: Wire[] = [];
  #waiting: ((wire: Wire) => void)[] = [];
  #taken = 0;
  readonly #transport: Transport;

  private constructor(server: Server, transport: Transport) {
    this.#server = server;
    this.#transport = transport;
    const take = (socket: Socket, raw?: Socket) => {
      const wire = new Wire(socket, raw);
      this.wires.push(wire);
      this.#hand();
    };
    if (!transport.server) server.on("connection", (socket) => take(socket));
    else {
      const raws = new Map<number | undefined, Socket>();
      server.on("connection", (socket) => raws.set(socket.remotePort, socket));
      server.on("secureConnection", (socket: Socket) => take(socket, raws.get(socket.remotePort)));
    }
  }

  static async start(
    transport: Transport = {},
    options: { readonly allowHalfOpen?: boolean } = {},
  ): Promise<WireServer> {
    const pair = transport.server;
    const server = pair ? createTlsServer({ ...pair, ...options }) : createServer(options);
    const own = new WireServer(server, transport);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return own;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): Origin {
    const { tls } = this.#transport;
    return { host: "127.0.0.1", port: this.port, protocol: "http1", tls };
  }

  /** Connections that are open now. */
  get open(): number {
    return this.wires.filter((wire) => !wire.closed).length;
  }

  /** The next connection that nobody has taken yet. */
  next(): Promise<Wire> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#hand();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.wires) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #hand(): void {
    while (this.#waiting.length > 0 && this.#taken < this.wires.length) {
      this.#waiting.shift()?.(this.wires[this.#taken++] as Wire);
    }
  }
}
