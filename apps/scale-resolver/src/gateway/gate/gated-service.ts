import type { HoldPolicy } from "../../binding.ts";
import type { Activity } from "../../decide/snapshot.ts";
import type { ServiceEndpoint } from "../../observe/endpoints.ts";
import type { GateRoute } from "./gate-route.ts";
import type { RefusalText, Worded } from "./refusals.ts";
import type { PortQueue } from "./port-queue.ts";

const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"] as const;
export type StatusClass = (typeof statusClasses)[number];

interface Source {
  readonly namespace: string;
  readonly source: string;
}

/** A Service at the gate, with its counts. */
export class GatedService {
  readonly key: string;
  readonly labels: { readonly namespace: string; readonly service: string };
  /**
   * The original's labels, and the same with the class of a status, which are frozen because each request needs them.
   */
  readonly source: Source;
  readonly sources: Readonly<Record<StatusClass, Source & { readonly status: StatusClass }>>;
  route: GateRoute;
  /** By port of the Service. */
  readonly queues = new Map<number, PortQueue>();
  /** The endpoints to which requests may go. */
  serving: readonly ServiceEndpoint[] = [];
  ready = 0;
  removed = false;
  /** Whether a route sends requests to the common port, or did: proxies follow a restored route late. */
  byHeader = false;
  /** The refusals of requests, by reason. */
  readonly refusals = new Map<Worded, RefusalText>();
  /** Opens and closes ports one after the other. */
  portChanges: Promise<void> = Promise.resolve();
  /** `unbound` after the last try to open the ports. */
  knownUnbound = 0;

  pending = 0;
  pendingBytes = 0;
  inFlight = 0;
  /** Requests in flight that were held before. */
  heldInFlight = 0;
  requests = 0;
  lastRequestAt: number | null = null;
  /** When `changed` was last called for a request, in monotonic milliseconds. */
  notifiedAt = -Infinity;
  /** Cancels the delayed call of `changed` after the queue became empty; undefined if there is none. */
  cancelNotify: (() => void) | undefined;
  /** When a pod became ready for waiting requests, in monotonic milliseconds; undefined after the first response. */
  offeredAt: number | undefined;

  constructor(route: GateRoute) {
    this.key = route.key;
    this.labels = { namespace: route.namespace, service: route.service };
    const source = { namespace: route.namespace, source: route.service };
    this.source = source;
    this.sources = Object.fromEntries(
      statusClasses.map((status) => [status, Object.freeze({ ...source, status })]),
    ) as GatedService["sources"];
    this.route = route;
  }

  get hold(): HoldPolicy {
    return this.route.hold;
  }

  get serves(): boolean {
    return this.serving.length > 0;
  }

  /** The cluster IP to which requests are sent; null if they are sent to pods. */
  get dialled(): string | null {
    return this.route.dial === "service" ? this.route.clusterAddress : null;
  }

  /** Whether clients are told to reconnect. A new connection reaches a pod after the Service is restored. */
  get asksToReconnect(): boolean {
    return this.ready > 0 && this.pending === 0;
  }

  /** Number of ports on which nothing listens. */
  get unbound(): number {
    return [...this.queues.values()].filter(({ port, listener }) => port.listen !== null && !listener).length;
  }

  /** The queue of a port of the Service; the first queue if there is none for this port. */
  queue(port: number | undefined): PortQueue | undefined {
    const first = this.route.ports[0];
    return (port === undefined ? undefined : this.queues.get(port)) ?? (first && this.queues.get(first.port));
  }

  activity(): Activity {
    const { pending, inFlight, requests, lastRequestAt } = this;
    return { pending, inFlight, requests, lastRequestAt };
  }
}

/**
 * The endpoints to which requests may go: the ready ones, or if there are none, those that terminate and still serve.
 */
export function servingOf(endpoints: readonly ServiceEndpoint[]): readonly ServiceEndpoint[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? ready : endpoints.filter(({ serving, terminating }) => serving && terminating);
}
