import type { Origin } from "@evenkeel/forward";
import type { Clock } from "@evenkeel/runtime";
import { Reachability } from "./reachability.ts";

/** A destination for the requests of one port of a Service: a pod, or the Service's cluster IP. */
export class Pod {
  readonly http1: Origin;
  readonly h2c: Origin;
  readonly reach: Reachability;
  /** The number of pods behind it. */
  weight = 1;

  constructor(host: string, port: number, clock: Clock, reached: () => void) {
    this.http1 = { host, port, protocol: "http1" };
    this.h2c = { host, port, protocol: "h2c" };
    this.reach = new Reachability(clock, host, port, reached);
  }
}
