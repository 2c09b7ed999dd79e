import { request } from "node:http";
import { connect, type Socket } from "node:net";
import type { Service } from "@evenkeel/kube";
import { type Clock, sleep } from "@evenkeel/runtime";
import {
  PATH_PROBE_HEADER,
  PATH_PROBE_METHOD,
  PATH_PROBE_PATH,
  PATH_PROBE_STATUS,
} from "../gateway/gate/path-probe-answer.ts";
import type { ProbeRound } from "../observe/probe-rounds.ts";

export interface PathProbeOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Number of open connections at this replica's listener for a port of a Service. */
  readonly connections: (service: Service, port: number) => number;
}

/** An address to which a probe connects. */
export interface ProbePoint {
  readonly address: string;
  readonly port: number;
}

/** Milliseconds to wait for a connection or a response. */
const TIMEOUT = 1000;
/**
 * Milliseconds within which this replica's listener accepts a connection that reaches it, and the interval between two
 * checks.
 */
const ARRIVAL = 60;
const FIRST_LOOK = 5;
const MOST_TRIES = 25;
/** Maximum number of failed connections in a round, because each may take the whole timeout. */
const MOST_FAILURES = 3;
const BLIND_TRIES = 2;

/**
 * Verifies that a Service's path leads to the resolver, at each port and address of the Service, without harm to its
 * pods. Some connections reach pods, so a probe first opens a connection and sends nothing. Only if this replica's
 * listener then has one more open connection, the probe sends a request, and the response is the proof. A pod only sees
 * connections that close without data.
 *
 * Behind a proxy such as a sidecar, and if another replica accepts the connection, this listener sees no connection.
 * For these cases, a `blind` round ends with a few requests that may reach a pod.
 */
export class PathProbe {
  readonly #options: PathProbeOptions;

  constructor(options: PathProbeOptions) {
    this.#options = options;
  }

  /**
   * Whether a replica of the resolver responded at every point. A Service that cannot be probed, or that has client
   * affinity, counts as verified. Never rejects. Resolves with false once the signal aborts.
   */
  async prove(service: Service, round: ProbeRound, signal: AbortSignal): Promise<boolean> {
    const points = probePoints(service);
    const proved = await Promise.all(points.map((point) => this.#provePoint(service, point, round, signal)));
    return !proved.includes(false);
  }

  async #provePoint(
    service: Service,
    point: ProbePoint,
    { ready, blind }: ProbeRound,
    signal: AbortSignal,
  ): Promise<boolean> {
    let failures = 0;
    for (let left = triesFor(ready); left > 0 && failures < MOST_FAILURES && !signal.aborted; left--) {
      const result = await this.#trySilently(service, point, signal);
      if (result === "proved") return true;
      if (result === "unconnected") failures += 1;
    }
    for (let left = blind ? BLIND_TRIES : 0; left > 0 && !signal.aborted; left--) {
      const socket = await this.#connect(point, signal);
      if (socket && (await this.#isAnswered(socket, hostOf(service, point), signal))) return true;
    }
    return false;
  }

  async #trySilently(
    service: Service,
    point: ProbePoint,
    signal: AbortSignal,
  ): Promise<"proved" | "missed" | "unconnected"> {
    const { clock, connections } = this.#options;
    const before = connections(service, point.port);
    const socket = await this.#connect(point, signal);
    if (!socket) return "unconnected";
    const hasArrived = () => connections(service, point.port) > before;
    for (let wait = FIRST_LOOK, waited = 0; waited < ARRIVAL && !hasArrived(); waited += wait, wait *= 2) {
      await sleep(clock, wait, signal).catch(() => undefined);
    }
    if (hasArrived() && (await this.#isAnswered(socket, hostOf(service, point), signal))) return "proved";
    socket.destroy();
    return "missed";
  }

  /** Opens a new connection each time, because a kept connection always reaches the same endpoint. */
  #connect({ address: host, port }: ProbePoint, signal: AbortSignal): Promise<Socket | undefined> {
    const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
    const socket = connect({ host, port });
    socket.once("connect", () => resolve(socket));
    // A connection that fails counts as a miss.
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(undefined));
    return this.#within(socket, signal, promise);
  }

  /** A pod may send any response or none. Only the resolver sends the expected one. */
  #isAnswered(socket: Socket, host: string, signal: AbortSignal): Promise<boolean> {
    const { random } = this.#options;
    const token = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16)).join("-");
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const probe = request({
      ...{ method: PATH_PROBE_METHOD, path: PATH_PROBE_PATH, createConnection: () => socket },
      headers: { host, [PATH_PROBE_HEADER]: token, "user-agent": "evenkeel-path-probe", connection: "close" },
    });
    probe.on("response", ({ statusCode, headers }) => {
      resolve(statusCode === PATH_PROBE_STATUS && headers[PATH_PROBE_HEADER] === token);
      probe.destroy();
    });
    probe.on("error", () => undefined);
    probe.on("close", () => resolve(false));
    probe.end();
    return this.#within(socket, signal, promise).finally(() => socket.destroy());
  }

  /** Destroys the socket when `use` ends. */
  async #within<T>(socket: Socket, signal: AbortSignal, use: Promise<T>): Promise<T> {
    const giveUp = () => socket.destroy();
    const cancel = this.#options.clock.schedule(TIMEOUT, giveUp);
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      return await use;
    } finally {
      cancel();
      signal.removeEventListener("abort", giveUp);
    }
  }
}

/** Istio's sidecars choose the Service by the Host of a request, and know each Service by this name with its port. */
function hostOf({ metadata }: Service, { port }: ProbePoint): string {
  return `${metadata.name ?? ""}.${metadata.namespace ?? ""}.svc:${port}`;
}

/** Enough tries to reach a resolver that is one of `ready + 1` endpoints with high probability. */
export function triesFor(ready: number): number {
  return Math.min(1 + 4 * (ready + 1), MOST_TRIES);
}

/**
 * The TCP ports of a Service at its address of each family. Empty if a probe proves nothing: the Service has no cluster
 * IP or no TCP port, or client affinity sends all tries to the same endpoint.
 */
export function probePoints({ spec = {} }: Service): readonly ProbePoint[] {
  const { clusterIP = "", clusterIPs = [clusterIP], type, sessionAffinity, ports = [] } = spec;
  if (type === "ExternalName" || sessionAffinity === "ClientIP") return [];
  const addresses = clusterIPs.filter((address) => address !== "" && address !== "None");
  const asked = ports.filter(({ protocol = "TCP" }) => protocol === "TCP");
  return addresses.flatMap((address) => asked.map(({ port }) => ({ address, port })));
}
