import type { HoldPolicy } from "../../binding.ts";
import type { ProbeRules } from "./probe-rules.ts";

/** What the gate must know of a Service to take its requests. */
export interface GateRoute {
  /** `namespace/service`. */
  readonly key: string;
  readonly namespace: string;
  readonly service: string;
  readonly ports: readonly GatePort[];
  readonly hold: HoldPolicy;
  readonly probes: ProbeRules;
  readonly dial: "pod" | "service";
  /** Where the Service itself is reached, for `dial: service`; null for a headless one. */
  readonly clusterAddress: string | null;
}

/** A port of a Service. */
export interface GatePort {
  /** Empty if it has none. */
  readonly name: string;
  /** The Service's own. */
  readonly port: number;
  /** The resolver's port for it; null until the leader has given it one. */
  readonly listen: number | null;
}
