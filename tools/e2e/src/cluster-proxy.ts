import { connect, createServer, type Server, type Socket } from "node:net";
import { type Cluster, waitUntil } from "@evenkeel/control-plane";
import {
  type Endpoint,
  type EndpointSlice,
  type ServicePort,
  servicePorts,
  type TrafficService,
} from "./service-endpoints.ts";
import { watchObjects } from "./watch-objects.ts";

/**
 * Acts as kube-proxy for every Service of a cluster, in a network namespace of `in-namespace.sh`: listens on ClusterIPs
 * and connects each client with a random endpoint. A port without endpoints refuses connections. Traffic policies,
 * session affinity and UDP are not supported.
 */
export function clusterProxy(cluster: Cluster): ClusterProxy {
  return new ClusterProxy(cluster);
}

export class ClusterProxy implements AsyncDisposable {
  readonly #listeners = new Map<string, PortListener>();
  readonly #ending = new AbortController();
  readonly #watching: Promise<unknown>;
  #services: readonly TrafficService[] | undefined;
  #slices: readonly EndpointSlice[] | undefined;

  constructor(cluster: Cluster) {
    this.#watching = Promise.all([this.#watchServices(cluster), this.#watchSlices(cluster)]);
  }

  /** The address of a Service's port, such as `http://10.96.12.7:80`, once it accepts connections. */
  async url(namespace: string, service: string, port: number): Promise<string> {
    const name = `${namespace}/${service}:${port}`;
    await waitUntil(`${name} to accept connections`, () => {
      const listener = this.#listeners.get(name);
      return listener === undefined ? "no Service has this port" : listener.whyClosed();
    });
    return `http://${this.#listeners.get(name)?.address ?? ""}`;
  }

  /** Closes every connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    for (const listener of this.#listeners.values()) listener.remove();
  }

  async #watchServices(cluster: Cluster): Promise<void> {
    for await (const services of watchObjects<TrafficService>(cluster, "/api/v1/services", this.#ending.signal)) {
      this.#services = services;
      this.#follow();
    }
  }

  async #watchSlices(cluster: Cluster): Promise<void> {
    const path = "/apis/discovery.k8s.io/v1/endpointslices";
    for await (const slices of watchObjects<EndpointSlice>(cluster, path, this.#ending.signal)) {
      this.#slices = slices;
      this.#follow();
    }
  }

  #follow(): void {
    if (this.#services === undefined || this.#slices === undefined) return;
    const ports = new Map(servicePorts(this.#services, this.#slices).map((port) => [port.name, port]));
    for (const [name, listener] of this.#listeners) {
      const { clusterIP, port } = ports.get(name) ?? {};
      if (listener.address === `${clusterIP ?? ""}:${port ?? 0}`) continue;
      listener.remove();
      this.#listeners.delete(name);
    }
    for (const [name, port] of ports) {
      const listener = this.#listeners.get(name) ?? new PortListener(port);
      this.#listeners.set(name, listener);
      listener.update(port.endpoints);
    }
  }
}

/** The listener for one port of one Service, open while it has endpoints. */
class PortListener {
  readonly #clusterIP: string;
  readonly #port: number;
  readonly #connections = new Set<Socket>();
  #endpoints: readonly Endpoint[] = [];
  #server: Server | undefined;
  #fault: string | undefined;

  constructor({ clusterIP, port }: ServicePort) {
    this.#clusterIP = clusterIP;
    this.#port = port;
  }

  get address(): string {
    return `${this.#clusterIP}:${this.#port}`;
  }

  whyClosed(): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    if (this.#server === undefined) return "the Service has no serving endpoint";
    return this.#server.listening ? undefined : "the listener is not open yet";
  }

  update(endpoints: readonly Endpoint[]): void {
    this.#endpoints = endpoints;
    if (endpoints.length > 0) this.#server ??= this.#open();
    else this.#close();
  }

  remove(): void {
    this.#close();
    for (const socket of this.#connections) socket.destroy();
  }

  #open(): Server {
    // A client that has sent everything may still receive.
    const server = createServer({ allowHalfOpen: true }, (client) => this.#join(client));
    server.on("error", (error: NodeJS.ErrnoException) => (this.#fault = faultOf(error)));
    server.on("listening", () => (this.#fault = undefined));
    return server.listen(this.#port, this.#clusterIP);
  }

  /** Accepts no further connections. Open ones stay, as with kube-proxy. */
  #close(): void {
    this.#server?.close();
    this.#server = undefined;
    this.#fault = undefined;
  }

  #join(client: Socket): void {
    const endpoint = this.#endpoints[Math.floor(Math.random() * this.#endpoints.length)];
    if (endpoint === undefined) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: endpoint.address, port: endpoint.port, allowHalfOpen: true });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#connections.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.on("error", () => other.resetAndDestroy());
      one.on("close", () => this.#connections.delete(one));
    }
  }
}

function faultOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRNOTAVAIL") return `${message}; run the suite through tools/e2e/in-namespace.sh`;
  if (code === "EADDRINUSE")
    return `${message}; a program that listens on 0.0.0.0 needs another port than Services have`;
  return message;
}
