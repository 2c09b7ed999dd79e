import type { Room } from "@evenkeel/forward";
import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import type { Clock, Logger } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";

export interface GateOptions {
  readonly host: string;
  /** For requests whose Service is told from their headers. */
  readonly port: number;
  /** Headers that name a Service, in the order in which they are looked at. */
  readonly hostHeaders: readonly string[];
  /** What all Services together may hold. */
  readonly overall: Room;
  /** Milliseconds between two `100 Continue` to an upload that waits; 0 for none, the forwarder's own unless set. */
  readonly uploadProbe?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly metrics: Metrics<typeof metrics>;
  /**
   * A request waits for a Service of which no pod serves. Called within the request's own turn of the event loop, for the first that
   * waits and again whenever another finds nothing that serves; it must not throw.
   */
  readonly wake: (key: string) => void;
  /** Something changed that decisions depend on: the first request came, the first waits, the last waits no more; a port could not be opened, or is. */
  readonly changed: (key: string) => void;
  /** A pod has begun to answer the first request that was held, so many milliseconds after something began to serve. */
  readonly firstAnswer?: (key: string, milliseconds: number) => void;
  /** All requests that were held ended without one: `firstAnswer` is not called for this wake any more. */
  readonly unanswered?: (key: string) => void;
  /** Files and sockets that the process may have open; as the system says unless set. */
  readonly descriptorLimit?: number;
}
