import type { HoldPolicy } from "../../binding.ts";
import type { Activity } from "../../decide/snapshot.ts";
import type { ServiceEndpoint } from "../../observe/endpoints.ts";
import type { GateRoute } from "./gate-route.ts";
import type { Rejection, Words } from "./refusals.ts";
import type { PortQueue } from "./port-queue.ts";

/** A Service whose requests the gate takes, and what it counts of it. */
export class GatedService {
  readonly key: string;
  readonly labels: { readonly namespace: string; readonly service: string };
  route: GateRoute;
  /** By the Service's port. */
  readonly queues = new Map<number, PortQueue>();
  /** The endpoints that requests may go to. */
  serving: readonly ServiceEndpoint[] = [];
  ready = 0;
  removed = false;
  /** What clients are told whose requests are refused, by reason. */
  readonly words = new Map<Rejection, Words>();
  /** Opening and closing of ports, one after the other. */
  portChanges: Promise<void> = Promise.resolve();
  /** Ports that could not be opened when that was last tried. */
  unbound = 0;

  pending = 0;
  pendingBytes = 0;
  inFlight = 0;
  /** Those of them that had waited. */
  heldInFlight = 0;
  requests = 0;
  lastRequestAt: number | null = null;
  /** When decisions were last told of a request, in monotonic milliseconds. */
  toldAt = -Infinity;
  /** Takes back that decisions are told soon that nobody waits any more; undefined if they are not. */
  toldLater: (() => void) | undefined;
  /** When something began to serve that requests waited for, in monotonic milliseconds; undefined once a pod answers the first. */
  offeredAt: number | undefined;

  constructor(route: GateRoute) {
    this.key = route.key;
    this.labels = { namespace: route.namespace, service: route.service };
    this.route = route;
  }

  get hold(): HoldPolicy {
    return this.route.hold;
  }

  get serves(): boolean {
    return this.serving.length > 0;
  }

  /** The address that is dialled instead of the pods'; null if theirs are. */
  get dialled(): string | null {
    return this.route.dial === "service" ? this.route.clusterAddress : null;
  }

  /** Whether a client that gets an answer now is told to connect again, which leads it to a pod once the resolver has left the path. */
  get sendsAway(): boolean {
    return this.ready > 0 && this.pending === 0;
  }

  /** The way to a port of the Service; to its first if it has none of that number. */
  queue(port: number | undefined): PortQueue | undefined {
    const first = this.route.ports[0];
    return (port === undefined ? undefined : this.queues.get(port)) ?? (first && this.queues.get(first.port));
  }

  activity(): Activity {
    const { pending, inFlight, requests, lastRequestAt } = this;
    return { pending, inFlight, requests, lastRequestAt };
  }
}

/** Which endpoints requests may go to: the ready ones, or those that still serve while they go, if there is no other. */
export function servingOf(endpoints: readonly ServiceEndpoint[]): readonly ServiceEndpoint[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? ready : endpoints.filter(({ serving, terminating }) => serving && terminating);
}
