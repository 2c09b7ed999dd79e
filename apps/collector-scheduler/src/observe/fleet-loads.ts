import type { CollectorLoadBalancerSpec } from "@evenkeel/api";
import { parseAddress, PrometheusClient } from "@evenkeel/prometheus";
import { type Clock, type Environment, proxyFor } from "@evenkeel/runtime";
import type { Weighed } from "../decide/snapshot-of.ts";
import type { Catalogue } from "./catalogue.ts";
import { Loads, type LoadSettings, type LoadsOptions } from "./loads.ts";

const advice = {
  address: "set spec.load.prometheus.serverAddress to the URL of the server",
  credentials: "put user and password into the URL of spec.load.prometheus",
  permission: "put a user who may query into the URL of spec.load.prometheus",
  load: "use a Prometheus server with more room for spec.load.prometheus",
  time: "use a faster Prometheus server for spec.load.prometheus",
  trust: "set NODE_EXTRA_CA_CERTS to the server's CA",
  handshake: "check that the server uses https",
  clientCertificate: "Check whether the server requires a client certificate, which is not supported",
};

/** The client that asks the Prometheus servers of all CollectorLoadBalancers. */
export function seriesClient(clock: Clock, env: Environment): PrometheusClient {
  const userAgent = "evenkeel-collector-scheduler";
  return new PrometheusClient({ clock, advice, userAgent, proxyFor: (server) => proxyFor(server, env) });
}

/** What of a fleet its loads depend on. */
export interface LoadedFleet {
  readonly uid: string;
  readonly catalogue: Pick<Catalogue, "targets">;
}

/** What the targets of each CollectorLoadBalancer cost their collectors. */
export class FleetLoads {
  readonly #options: LoadsOptions;
  /** By uid. */
  readonly #loads = new Map<string, Loads>();

  constructor(options: LoadsOptions) {
    this.#options = options;
  }

  /**
   * Begins to read the numbers of series where that is due: a server that hangs must not hold up a reconcile. Returns
   * why loads are not known by the last answer; null if they are.
   */
  refresh({ uid }: LoadedFleet, spec: CollectorLoadBalancerSpec): string | null {
    const loads = this.#of(uid);
    const settings = loadSettings(spec);
    void loads.refresh(settings);
    return loads.unknown(settings);
  }

  weigh({ uid, catalogue }: LoadedFleet, spec: CollectorLoadBalancerSpec): readonly Weighed[] {
    return this.#of(uid).weigh(catalogue.targets.values(), loadSettings(spec));
  }

  /** Why the counts in force are stale; see {@link Loads.stale}. */
  stale({ uid }: LoadedFleet): string | null {
    return this.#of(uid).stale;
  }

  forget(uid: string): void {
    this.#loads.get(uid)?.stop();
    this.#loads.delete(uid);
  }

  #of(uid: string): Loads {
    const known = this.#loads.get(uid);
    if (known) return known;
    const loads = new Loads(this.#options);
    this.#loads.set(uid, loads);
    return loads;
  }
}

function loadSettings({ load = {} }: CollectorLoadBalancerSpec): LoadSettings {
  const { perScrape, prometheus } = load;
  const address = prometheus === undefined ? null : (parseAddress(prometheus.serverAddress) ?? null);
  return { address, ...(perScrape !== undefined && { perScrape }) };
}
