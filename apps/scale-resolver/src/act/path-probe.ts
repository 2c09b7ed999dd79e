import { request } from "node:http";
import type { Service } from "@evenkeel/kube";
import { type Clock, sleep } from "@evenkeel/runtime";
import type { Pods } from "../decide/snapshot.ts";
import {
  PATH_PROBE_HEADER,
  PATH_PROBE_METHOD,
  PATH_PROBE_PATH,
  PATH_PROBE_STATUS,
} from "../gateway/gate/path-probe-answer.ts";

export interface PathProbeOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Where a Service is asked. */
export interface ProbePoint {
  readonly address: string;
  readonly port: number;
}

/** Milliseconds that one try waits for its answer. */
const PATIENCE = 1000;
/** Milliseconds between two tries. */
const PAUSE = 20;
const MOST_TRIES = 60;

/**
 * Proves that a Service's path leads to the resolver: asks each of the Service's ports, at each of its addresses, for the resolver, on a new connection each time, until one of its replicas
 * answers. Connections go to pods as well, so that one miss tells nothing: the more pods there are, the more tries.
 */
export class PathProbe {
  readonly #options: PathProbeOptions;

  constructor(options: PathProbeOptions) {
    this.#options = options;
  }

  /**
   * Whether the resolver answered everywhere, within a bounded number of tries. A Service that cannot be asked, or that binds each client to one pod, counts as proved:
   * nothing better will come. Never rejects; once the signal aborts, nothing is proved.
   */
  async prove(service: Service, { ready }: Pick<Pods, "ready">, signal: AbortSignal): Promise<boolean> {
    const points = probePoints(service);
    const proved = await Promise.all(points.map((point) => this.try(point, triesFor(ready), signal)));
    return !proved.includes(false);
  }

  async try(point: ProbePoint, tries: number, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 1; attempt <= tries && !signal.aborted; attempt++) {
      if (await this.#reaches(point, signal)) return true;
      if (attempt < tries) await sleep(this.#options.clock, PAUSE, signal).catch(() => undefined);
    }
    return false;
  }

  /** One try. A pod may answer what it likes, or nothing: only the resolver knows what to say. */
  #reaches({ address: host, port }: ProbePoint, signal: AbortSignal): Promise<boolean> {
    const { clock, random } = this.#options;
    const token = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16)).join("-");
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const probe = request({
      ...{ host, port, method: PATH_PROBE_METHOD, path: PATH_PROBE_PATH },
      // No agent: a connection that is kept would lead to the same endpoint for ever.
      agent: false,
      headers: { [PATH_PROBE_HEADER]: token, connection: "close" },
    });
    const giveUp = () => probe.destroy();
    const cancel = clock.schedule(PATIENCE, giveUp);
    signal.addEventListener("abort", giveUp, { once: true });
    probe.on("response", ({ statusCode, headers }) => {
      resolve(statusCode === PATH_PROBE_STATUS && headers[PATH_PROBE_HEADER] === token);
      probe.destroy();
    });
    // A connection that fails is a miss like any other.
    probe.on("error", () => undefined);
    probe.on("close", () => resolve(false));
    probe.end();
    return promise.finally(() => {
      cancel();
      signal.removeEventListener("abort", giveUp);
    });
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
