import type { HoldPolicy } from "../../binding.ts";
import type { ProbeRules } from "./probe-rules.ts";

/** What the gate needs to know of a Service. */
export interface GateRoute {
  /** `namespace/service`. */
  readonly key: string;
  readonly namespace: string;
  readonly service: string;
  readonly ports: readonly GatePort[];
  readonly hold: HoldPolicy;
  readonly probes: ProbeRules;
  /** Whether requests to the common port may name it in a header, as those of a redirected route do. */
  readonly byHeader: boolean;
  readonly dial: "pod" | "service";
  /** The cluster IP of the Service, for `dial: service`; null for a headless one. */
  readonly clusterAddress: string | null;
}

export interface GatePort {
  /** Empty if the port has no name. */
  readonly name: string;
  /** The port number of the Service. */
  readonly port: number;
  /** The resolver's port for it; null until the leader has assigned one. */
  readonly listen: number | null;
  /** False: requests are refused while no pod serves, and do not count as activity. Absent: they wake the Service. */
  readonly wakes?: boolean;
}
