import type { Room } from "@evenkeel/forward";
import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import type { Clock, Logger } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";

export interface GateOptions {
  readonly host: string;
  /** Port for requests whose headers name their Service. */
  readonly port: number;
  /** Headers that name a Service, in order of priority. */
  readonly hostHeaders: readonly string[];
  /** Limit of waiting requests of all Services together. */
  readonly overall: Room;
  /** Milliseconds between two `100 Continue` to a waiting upload; 0 disables them; default: the forwarder's. */
  readonly uploadProbe?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly metrics: Metrics<typeof metrics>;
  /**
   * Called when a request waits for a Service without a serving pod: synchronously for the first one, and again when
   * another request finds none. Must not throw.
   */
  readonly wake: (key: string) => void;
  /**
   * Called when something changed that decisions depend on: the first request arrived, the first one waits, the queue
   * is empty, or a port was opened or could not be opened.
   */
  readonly changed: (key: string) => void;
  /** A pod began to answer the first held request, `milliseconds` after a pod became ready. */
  readonly firstAnswer?: (key: string, milliseconds: number) => void;
  /** All held requests ended without a response: `firstAnswer` is not called for this wake. */
  readonly unanswered?: (key: string) => void;
  /** Maximum open files and sockets of the process; default: the limit of the system. */
  readonly descriptorLimit?: number;
}
