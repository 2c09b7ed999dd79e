import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { type LoopbackAddresses, loopbackAddresses } from "@evenkeel/testkit";
import type { ServiceEndpoint } from "../../src/observe/endpoints.ts";

/** A request as a pod got it. */
export interface Arrival {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
  readonly headers: IncomingMessage["headers"];
}

export interface PodOptions {
  /** Milliseconds until a request is answered. */
  readonly answerAfter?: number;
  /** Instead of the answer that repeats the request's body's digest. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => void;
}

let addresses: Promise<LoopbackAddresses> | undefined;

/** An address of loopback for one pod: those of one test file are of one block. */
export async function podAddress(): Promise<string> {
  addresses ??= loopbackAddresses();
  return (await addresses).next();
}

export async function freePort(host = "127.0.0.1"): Promise<number> {
  const server = createTcpServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A pod: an address of its own, where an HTTP server listens after `listen`. It records the requests that arrive. */
export class PodServer implements AsyncDisposable {
  readonly address: string;
  readonly port: number;
  readonly server: Server;
  readonly arrivals: Arrival[] = [];
  /** Number of requests, including those with an incomplete body. */
  begun = 0;
  connections = 0;
  running = 0;
  most = 0;

  private constructor(address: string, port: number, { answerAfter = 0, answer }: PodOptions) {
    this.address = address;
    this.port = port;
    this.server = createServer({ requestTimeout: 0, keepAliveTimeout: 120_000 }, (request, response) => {
      this.begun += 1;
      this.most = Math.max(this.most, (this.running += 1));
      response.on("close", () => (this.running -= 1));
      if (answer) {
        answer(request, response);
        return;
      }
      const hash = createHash("sha1");
      let bytes = 0;
      request.on("data", (part: Buffer) => {
        bytes += part.length;
        hash.update(part);
      });
      request.on("end", () => {
        const { method = "", url = "", headers } = request;
        const digest = hash.digest("hex");
        this.arrivals.push({ id: String(headers["x-id"] ?? ""), method, path: url, bytes, digest, headers });
        const end = () => response.end(`${String(headers["x-id"] ?? "")} ${digest}`);
        if (answerAfter > 0) setTimeout(end, answerAfter);
        else end();
      });
    });
    this.server.on("connection", () => (this.connections += 1));
  }

  /** A pod that refuses connections until `listen`. */
  static async make(options: PodOptions = {}): Promise<PodServer> {
    return new PodServer(await podAddress(), await freePort(), options);
  }

  static async start(options: PodOptions = {}): Promise<PodServer> {
    const pod = await PodServer.make(options);
    await pod.listen();
    return pod;
  }

  async listen(): Promise<void> {
    this.server.listen({ port: this.port, host: this.address, backlog: 4096 });
    await once(this.server, "listening");
  }

  /** As its slice has it. */
  endpoint(state: Partial<Pick<ServiceEndpoint, "ready" | "serving" | "terminating">> = {}): ServiceEndpoint {
    return endpointOf(this.address, this.port, state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.server.listening) return;
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }
}

export function endpointOf(
  address: string,
  port: number,
  state: Partial<Pick<ServiceEndpoint, "ready" | "serving" | "terminating">> = {},
): ServiceEndpoint {
  const { ready = true, serving = true, terminating = false } = state;
  return { address, pod: `pod-${address}`, uid: address, ready, serving, terminating, ports: { http: port } };
}
