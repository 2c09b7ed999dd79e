import type { Origin } from "@evenkeel/forward";
import type { Clock } from "@evenkeel/runtime";
import { Reachability } from "./reachability.ts";

/** A place that takes the requests of one port of a Service: a pod, or the Service's own address. */
export class Pod {
  readonly http1: Origin;
  readonly h2c: Origin;
  readonly reach: Reachability;
  /** How many pods it stands for. */
  weight = 1;

  constructor(host: string, port: number, clock: Clock, reached: () => void) {
    this.http1 = { host, port, protocol: "http1" };
    this.h2c = { host, port, protocol: "h2c" };
    this.reach = new Reachability(clock, host, port, reached);
  }
}
