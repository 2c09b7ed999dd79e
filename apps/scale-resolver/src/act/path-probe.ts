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
  /** Connections that are open at this replica's listener for a port of a Service. */
  readonly connections: (service: Service, port: number) => number;
}

/** Where a Service is asked. */
export interface ProbePoint {
  readonly address: string;
  readonly port: number;
}

/** Milliseconds that a connection, or an answer, is waited for. */
const PATIENCE = 1000;
/** Milliseconds in which a connection that was made is accepted here, if it ends here, and after how many that is first looked at. */
const ARRIVAL = 60;
const FIRST_LOOK = 5;
const MOST_TRIES = 25;
/** Connections of a round that may fail: each may take as long as it is waited for. */
const MOST_FAILURES = 3;
const BLIND_TRIES = 2;

/**
 * Proves that a Service's path leads to the resolver, at each of the Service's ports and addresses, without harm to its pods. Connections go to pods as well, so that a probe first
 * opens a connection and says nothing: only if one more is open at this replica's listener then, a request follows on it, and the answer to that is the proof. A pod sees connections that
 * are closed without a byte, which it counts as no request.
 *
 * Where a proxy stands between, such as a sidecar, and where another replica takes the connection, none arrives here. For these, a round that is `blind` ends with very few requests
 * that may reach a pod.
 */
export class PathProbe {
  readonly #options: PathProbeOptions;

  constructor(options: PathProbeOptions) {
    this.#options = options;
  }

  /**
   * Whether a replica of the resolver answered everywhere. A Service that cannot be asked, or that binds each client to one pod, counts as proved: nothing better will come.
   * Never rejects; once the signal aborts, nothing is proved.
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
      if (socket && (await this.#isAnswered(socket, signal))) return true;
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
    if (hasArrived() && (await this.#isAnswered(socket, signal))) return "proved";
    socket.destroy();
    return "missed";
  }

  /** A connection of its own each time: one that is kept would lead to the same endpoint for ever. */
  #connect({ address: host, port }: ProbePoint, signal: AbortSignal): Promise<Socket | undefined> {
    const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
    const socket = connect({ host, port });
    socket.once("connect", () => resolve(socket));
    // A connection that fails is a miss like any other.
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(undefined));
    return this.#within(socket, signal, promise);
  }

  /** A pod may answer what it likes, or nothing: only the resolver knows what to say. */
  #isAnswered(socket: Socket, signal: AbortSignal): Promise<boolean> {
    const { random } = this.#options;
    const token = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16)).join("-");
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const probe = request({
      ...{ method: PATH_PROBE_METHOD, path: PATH_PROBE_PATH, createConnection: () => socket },
      headers: { [PATH_PROBE_HEADER]: token, "user-agent": "evenkeel-path-probe", connection: "close" },
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

  /** What the socket is used for, which ends with it. */
  async #within<T>(socket: Socket, signal: AbortSignal, use: Promise<T>): Promise<T> {
    const giveUp = () => socket.destroy();
    const cancel = this.#options.clock.schedule(PATIENCE, giveUp);
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

/** Enough that missing a resolver which is one of `ready + 1` endpoints is unlikely. */
export function triesFor(ready: number): number {
  return Math.min(1 + 4 * (ready + 1), MOST_TRIES);
}

/**
 * Where a Service can be asked: its TCP ports at its address of each family. None where that would prove nothing: it has no address of its own or no TCP port, or it
 * binds each client to one pod, so that all tries would end at the same.
 */
export function probePoints({ spec = {} }: Service): readonly ProbePoint[] {
  const { clusterIP = "", clusterIPs = [clusterIP], type, sessionAffinity, ports = [] } = spec;
  if (type === "ExternalName" || sessionAffinity === "ClientIP") return [];
  const addresses = clusterIPs.filter((address) => address !== "" && address !== "None");
  const asked = ports.filter(({ protocol = "TCP" }) => protocol === "TCP");
  return addresses.flatMap((address) => asked.map(({ port }) => ({ address, port })));
}
