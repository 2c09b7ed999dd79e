import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, createServer, type Server as TcpServer, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type KubeClient, kubeErrors, type KubeObject, pods } from "@evenkeel/kube";
import { MetricRegistry } from "@evenkeel/metrics";
import { externalScaler, RpcServer } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";

/** Keeps a pod until its program has ended, as a kubelet does. */
export const FINALIZER = "evenkeel.io/program";

/** Ports of the containers. */
export const HTTP_PORT = 7080;
export const GRPC_PORT = 7090;

/** What the program of a pod got. */
export interface Arrival {
  /** Address of the pod. */
  readonly pod: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: number;
  /** SHA-256 of the body. */
  readonly digest: string;
}

export const DRIPS = 10;
export const DRIP = "d".repeat(1024);
const DRIP_MS = 20;

/**
 * Milliseconds for which a connection to a removed pod is kept: its address may belong to another pod, which is
 * reported a moment later.
 */
const RUMOUR_MS = 500;

/** Milliseconds before a retry if the API server does not respond. */
const RETRY_MS = 200;

type RunningPod = KubeObject & {
  readonly spec?: { readonly terminationGracePeriodSeconds?: number };
  readonly status?: { readonly podIP?: string };
};

/**
 * The programs in the pods of a cluster, at their addresses: HTTP/1.1 at one port, gRPC at another. A deleted pod
 * serves for its grace period and asks clients to reconnect. Then it finishes its requests and closes its listeners.
 */
export class PodPrograms implements AsyncDisposable {
  readonly arrivals: Arrival[] = [];
  readonly #kube: KubeClient;
  readonly #ending = new AbortController();
  readonly #leaving = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #told = new Set<string>();
  /** The pod of each address, by name. */
  readonly #names = new Map<string, string>();
  readonly #connections = new Map<Socket, { requests: number }>();
  readonly #http: Server;
  readonly #rpc: RpcServer;
  readonly #doors: TcpServer[] = [];
  #watching: Promise<void> = Promise.resolve();

  private constructor(kube: KubeClient) {
    this.#kube = kube;
    this.#http = createHttpServer((request, response) => void this.#answer(request, response).catch(() => undefined));
    const log = silentLog();
    const limits = { message: 65_536, calls: 100, streams: 100 };
    const common = { clock: systemClock, log, limits, registry: new MetricRegistry() };
    this.#rpc = new RpcServer({ ...common, host: "127.0.0.1", port: 0, transport: "insecure" });
    const access = Object.fromEntries(Object.keys(greeter).map((method) => [method, "anyone" as const]));
    this.#rpc.add({ definition: externalScaler.ExternalScalerDefinition, implementation: greeter, access });
  }

  static async start(kube: KubeClient): Promise<PodPrograms> {
    const programs = new PodPrograms(kube);
    await programs.#rpc.start({ signal: programs.#ending.signal, fail: () => undefined });
    await programs.#open(HTTP_PORT, (socket) => programs.#http.emit("connection", socket));
    await programs.#open(GRPC_PORT, (socket) => {
      const inner = connect(programs.#rpc.port, "127.0.0.1");
      for (const one of [socket, inner]) one.on("error", () => undefined);
      void pipeline(socket, inner, socket).catch(() => undefined);
    });
    programs.#watching = programs.#watch();
    return programs;
  }

  /** The requests with a path. */
  arrivalsAt(path: string): readonly Arrival[] {
    return this.arrivals.filter((arrival) => arrival.path === path);
  }

  /**
   * The name of the pod that was last at an address. KWOK may give a pod that has just started another address: it sets
   * one for each event that it sees before its own write.
   */
  nameAt(address: string): string | undefined {
    return this.#names.get(address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    for (const socket of this.#connections.keys()) socket.destroy();
    for (const door of this.#doors) door.close();
    await this.#rpc.stop(AbortSignal.timeout(0));
  }

  async #open(port: number, take: (socket: Socket) => unknown): Promise<void> {
    const door = createServer((socket) => void this.#meet(socket, take)).listen({
      port,
      host: "0.0.0.0",
      backlog: 1024,
    });
    this.#doors.push(door);
    await once(door, "listening");
  }

  async #meet(socket: Socket, take: (socket: Socket) => unknown): Promise<void> {
    socket.on("error", () => undefined);
    const address = socket.localAddress ?? "";
    if (this.#gone.has(address)) await pause(RUMOUR_MS);
    if (this.#gone.has(address)) {
      socket.resetAndDestroy();
      return;
    }
    this.#connections.set(socket, { requests: 0 });
    socket.on("close", () => this.#connections.delete(socket));
    take(socket);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket, method = "", url: path = "", headers } = request;
    const connection = this.#connections.get(socket) ?? { requests: 0 };
    const pod = socket.localAddress ?? "";
    connection.requests += 1;
    response.on("close", () => {
      connection.requests -= 1;
      if (this.#gone.has(pod) && connection.requests === 0) socket.end();
    });
    if (this.#leaving.has(pod)) response.setHeader("connection", "close");
    if (path.startsWith("/echo")) {
      response.setHeader("x-pod", pod);
      await pipeline(request, response);
      return;
    }
    if (path.startsWith("/drip")) {
      response.writeHead(200, { "content-length": DRIPS * DRIP.length, "x-pod": pod });
      for (let drip = 0; drip < DRIPS; drip++) {
        response.write(DRIP);
        await pause(DRIP_MS);
      }
      response.end();
      return;
    }
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      hash.update(part);
    }
    const arrival: Arrival = { pod, method, path, headers, bytes, digest: hash.digest("hex") };
    // The resolver's path probe may reach a pod.
    if (path !== "*") this.arrivals.push(arrival);
    response.writeHead(200, { "content-type": "application/json", "x-pod": pod }).end(JSON.stringify(arrival));
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      // While the API server is away, pods stay as they are.
      await this.#watchOnce().catch(() => undefined);
      await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #watchOnce(): Promise<void> {
    const { signal } = this.#ending;
    const resource = this.#kube.resource(pods);
    const options = {
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
    } as const;
    for await (const event of resource.watch({ signal, ...options })) {
      if (event.type !== "BOOKMARK" && event.type !== "DELETED") this.#hear(event.object);
    }
  }

  #hear(pod: RunningPod): void {
    const { uid = "", name = "", finalizers = [], deletionTimestamp } = pod.metadata;
    const address = pod.status?.podIP;
    if (!finalizers.includes(FINALIZER)) return;
    if (address !== undefined) this.#names.set(address, name);
    if (deletionTimestamp === undefined) {
      if (address !== undefined) this.#gone.delete(address);
    } else if (!this.#told.has(uid)) {
      this.#told.add(uid);
      void this.#end(pod, address);
    }
  }

  async #end({ metadata, spec }: RunningPod, address: string | undefined): Promise<void> {
    const { namespace, name = "" } = metadata;
    if (address !== undefined) {
      this.#leaving.add(address);
      await pause((spec?.terminationGracePeriodSeconds ?? 0) * 1000);
      this.#leaving.delete(address);
      this.#gone.add(address);
      for (const [socket, { requests }] of this.#connections) {
        if (socket.localAddress === address && requests === 0) socket.destroy();
      }
    }
    try {
      const body = { metadata: { finalizers: null } };
      await this.#kube.resource(pods).patch({ namespace, name }, { type: "merge", body });
    } catch (error) {
      if (!(error instanceof kubeErrors.NotFound || this.#ending.signal.aborted)) throw error;
    }
  }
}

/** A gRPC service with a unary call that echoes the request, and a stream with the requested number of messages. */
const greeter = {
  isActive: () => Promise.resolve({ result: true }),
  // eslint-disable-next-line @typescript-eslint/require-await
  async *streamIsActive({ scalerMetadata }: externalScaler.ScaledObjectRef) {
    const count = Number(scalerMetadata["count"]);
    for (let index = 0; index < count; index++) yield { result: index === count - 1 };
  },
  getMetricSpec: ({ name }: externalScaler.ScaledObjectRef) =>
    Promise.resolve({ metricSpecs: [{ metricName: name, targetSize: "0", targetSizeFloat: 1 }] }),
  getMetrics: () => Promise.resolve({ metricValues: [] }),
  // eslint-disable-next-line @typescript-eslint/require-await
  async *streamMetricSpec() {
    yield { metricSpecs: [] };
  },
};
