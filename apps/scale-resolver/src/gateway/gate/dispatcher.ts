import {
  type Destination,
  type Exchange,
  type Failure,
  Hold,
  type HoldOutcome,
  type Outcome,
  type Room,
  type Settlement,
} from "@evenkeel/forward";
import type { Clock, Logger } from "@evenkeel/runtime";
import type { Descriptors } from "./descriptors.ts";
import { GateRequest, type RequestOwner } from "./gate-request.ts";
import type { GatedService } from "./gated-service.ts";
import type { AccessLog } from "./access-log.ts";
import type { Pod } from "./pod.ts";
import { refusalOf, type Rejection, type Worded } from "./refusals.ts";
import { isRefusal, wasClosedMeanwhile } from "./refused-connection.ts";
import type { PortQueue } from "./port-queue.ts";

/** Maximum tries of a repeatable request that reach a pod and get no response. */
const TRIES = 3;
/** Minimum milliseconds between two calls of `changed` for consecutive requests. */
const NOTIFY_INTERVAL = 100;
/** Maximum milliseconds for which `changed` waits for the responses to the last released requests. */
const ANSWERS_FIRST = 100;
/**
 * Milliseconds for which a client's connection is kept while pods are ready. After that, its next response asks it to
 * reconnect: a new connection reaches a pod once the Service is restored, and a connection for each request is costly.
 */
const KEPT = 1000;
/**
 * Connections are left unread only while so few requests wait that they are answered before the connections must be
 * read again: reading a thousand at once would delay the answers to the others.
 */
const LAST_FEW = 1000;
/** Maximum characters of a path in the access log. */
const LONGEST_PATH = 256;
/** Marks a request that was sent to its Service's cluster IP, which may return it to the resolver. */
const DIALLED = "evenkeel-dialled";

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly overall: Room;
  /** A Service may have at most this many times the free room of `overall`: see `share` of the forwarder's limits. */
  readonly share: number;
  readonly descriptors: Descriptors;
  readonly accessLog: AccessLog;
  readonly wake: (key: string) => void;
  readonly changed: (key: string) => void;
  /** Called when the released requests of a Service have their responses, except long ones. */
  readonly burstAnswered: () => void;
  /**
   * A pod began to answer the first held request of `service`, `milliseconds` after a pod became ready. Must not throw.
   */
  readonly firstAnswer: (service: GatedService, milliseconds: number) => void;
  /** All requests that were held when a pod became ready ended without a response. */
  readonly unanswered: (key: string) => void;
}

/** Handles every request of every Service from its route to its end: forwards it to a pod, queues it, or refuses it. */
export class Dispatcher implements RequestOwner {
  readonly hold: Hold<GateRequest, Pod>;
  /** By queue key. */
  readonly queues = new Map<string, PortQueue>();
  /** Number of waiting requests that each need a connection of their own to a pod later. */
  waitingTunnels = 0;
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.hold = new Hold({
      clock: options.clock,
      perKey: (queueKey) => this.#room(queueKey),
      overall: options.overall,
      settle: (request, settlement) => this.#settle(request, settlement),
    });
  }

  /** A request for a Service. `byPort`: it arrived at the Service's own port. */
  admit(queue: PortQueue, exchange: Exchange, byPort: boolean): Destination | Promise<Destination> {
    const { service } = queue;
    if (isOpaque(exchange) && service.hold.protocol === "http") return this.#refuseProtocol(queue, exchange, byPort);
    const rule = isOpaque(exchange) ? undefined : service.route.probes.answer(exchange);
    if (rule && !service.serves) return rule;
    const { clock, accessLog } = this.#options;
    const now = clock.monotonic();
    const request = new GateRequest(this, queue, exchange, Math.floor(now), byPort);
    const sleeps = queue.port.wakes === false;
    const probe = rule ?? (sleeps ? { refuse: refusalOf(service, "portAsleep", []) } : undefined);
    request.probe = probe;
    const back = service.dialled !== null && exchange.header(DIALLED) === service.key;
    if (back) {
      const direct = this.#direct(request);
      if (direct) return direct;
    }
    if (probe) return this.#enter(request);
    service.requests += 1;
    service.lastRequestAt = clock.now();
    accessLog.touch(service);
    const idle = service.pending + service.inFlight === 0;
    const destination = this.#enter(request);
    if (idle && now - service.notifiedAt >= NOTIFY_INTERVAL) this.#notify(service);
    return destination;
  }

  /** A try failed and may be repeated: the request returns to its queue position, or goes to another pod. */
  retry(exchange: Exchange, failure: Failure): Destination | Promise<Destination> | undefined {
    const { forward } = failure;
    if (!(forward instanceof GateRequest) || !forward.pod || forward.queue.service.removed) return undefined;
    const { queue, pod, began, byPort } = forward;
    if (isRefusal(failure)) queue.refused(pod);
    else if ((isOpaque(exchange) || !wasClosedMeanwhile(failure)) && (forward.breaks += 1) >= TRIES) return undefined;
    forward.replaced = true;
    return this.#enter(new GateRequest(this, queue, exchange, began, byPort, forward));
  }

  /** Something changed that decisions on a Service depend on. */
  changed(service: GatedService): void {
    this.#call(this.#options.changed, service);
  }

  left(request: GateRequest): void {
    if (request.queued) this.hold.leave(request.queued);
  }

  answering({ held, queue: { service } }: GateRequest): void {
    const { offeredAt } = service;
    if (!held || offeredAt === undefined) return;
    service.offeredAt = undefined;
    this.#options.firstAnswer(service, this.#options.clock.monotonic() - offeredAt);
  }

  settled(request: GateRequest, { status }: Outcome): void {
    const { queue, slot, held } = request;
    const { service } = queue;
    if (!request.probe) service.inFlight -= 1;
    if (held) service.heldInFlight -= 1;
    request.slot = undefined;
    slot?.done();
    if (service.inFlight === 0 && service.cancelNotify) this.#notify(service);
    if (request.replaced) return;
    this.#abandonFirstAnswer(service);
    this.#record(request, "released", status);
  }

  /** No request is left that could get the first response. The next one that waits belongs to another wake. */
  #abandonFirstAnswer(service: GatedService): void {
    if (service.offeredAt === undefined || service.pending + service.heldInFlight > 0) return;
    service.offeredAt = undefined;
    this.#call(this.#options.unanswered, service);
  }

  /** Forwards a request directly to a pod if its Service's cluster IP returned it to the resolver. */
  #direct(request: GateRequest): Destination | undefined {
    const address = request.queue.direct();
    if (!address) return undefined;
    request.origin = { ...address, protocol: protocolOf(request.exchange) };
    if (!request.probe) request.queue.service.inFlight += 1;
    return request;
  }

  #enter(request: GateRequest): Destination | Promise<Destination> {
    const { queue, exchange } = request;
    const { service } = queue;
    const { descriptors } = this.#options;
    const isTunnel = needsOwnConnection(exchange);
    if (service.removed && !service.serves) this.#refuse(request, "drained");
    else if (request.since === undefined && (isTunnel ? descriptors.short : descriptors.exhausted)) {
      this.#refuse(request, "descriptors");
    } else {
      const queued = this.hold.enter(queue.key, request, request);
      if (queued && request.probe) this.hold.leave(queued);
      else if (queued) {
        request.queued = queued;
        request.held = true;
        service.pending += 1;
        service.pendingBytes += queued.bytes;
        if (isTunnel) this.waitingTunnels += 1;
        if (exchange.left) this.left(request);
        else this.#wait(request);
      }
    }
    return request.destination ?? new Promise((resolve) => (request.resolve = resolve));
  }

  #wait(request: GateRequest): void {
    const { service } = request.queue;
    request.exchange.whenLeft = request;
    if (!service.serves) this.#call(this.#options.wake, service);
    if (service.pending === 1) this.#notify(service);
  }

  /**
   * The queue is empty. The decision takes some milliseconds, so it starts after the responses of the burst, but soon,
   * because a response may be a stream.
   */
  #notifyAfterAnswers(service: GatedService): void {
    if (!service.serves || service.inFlight === 0) this.#notify(service);
    else service.cancelNotify ??= this.#options.clock.schedule(ANSWERS_FIRST, () => this.#notify(service));
  }

  #notify(service: GatedService): void {
    if (service.cancelNotify) {
      service.cancelNotify();
      service.cancelNotify = undefined;
      this.#options.burstAnswered();
    }
    service.notifiedAt = this.#options.clock.monotonic();
    this.changed(service);
  }

  /** An error of a listener must not affect a request. */
  #call(listener: (key: string) => void, { key }: GatedService): void {
    try {
      listener(key);
    } catch (error) {
      this.#options.log.error({ error, service: key }, "a listener of the gateway failed");
    }
  }

  #settle(request: GateRequest, settlement: Settlement<Pod>): void {
    const { queue, exchange, queued } = request;
    const { service } = queue;
    if (queued) {
      request.queued = undefined;
      service.pending -= 1;
      service.pendingBytes -= queued.bytes;
      if (needsOwnConnection(exchange)) this.waitingTunnels -= 1;
      exchange.whenLeft = undefined;
    }
    request.waited = settlement.waited;
    if (settlement.outcome === "released") this.#release(request, settlement.slot);
    else this.#refuse(request, this.#why(settlement.outcome));
    if (!queued) return;
    queue.dequeued();
    if (service.pending > 0) return;
    this.#abandonFirstAnswer(service);
    this.#notifyAfterAnswers(service);
  }

  #release(request: GateRequest, slot: NonNullable<GateRequest["slot"]>): void {
    const { exchange, queue, byPort } = request;
    const { service } = queue;
    const pod = slot.upstream;
    request.slot = slot;
    request.pod = pod;
    request.origin = protocolOf(exchange) === "h2c" ? pod.h2c : pod.http1;
    if (service.dialled !== null) {
      // A connection cannot be marked, so it could return to the resolver again and again: it goes to a pod.
      const direct = isOpaque(exchange) ? queue.direct() : undefined;
      if (direct) request.origin = { ...direct, protocol: "http1" };
      else request.headers = [DIALLED, service.key];
    }
    if (request.held) {
      request.answerHeaders = coldStartHeaders(request);
      service.heldInFlight += 1;
    }
    if (!request.probe) service.inFlight += 1;
    if (byPort && service.asksToReconnect && exchange.connectionAge >= KEPT) exchange.closeAfter();
    if (queue.waiting > 0 && queue.waiting <= LAST_FEW) exchange.unreadAfter();
    this.#resolve(request, request);
  }

  /** It is not HTTP, so its connection is closed. It does not count as activity. */
  #refuseProtocol(queue: PortQueue, exchange: Exchange, byPort: boolean): Destination {
    const request = new GateRequest(this, queue, exchange, Math.floor(this.#options.clock.monotonic()), byPort);
    this.#record(request, "protocol", 0);
    return { refuse: { status: 400 } };
  }

  #refuse(request: GateRequest, why: Worded): void {
    const { service, port } = request.queue;
    if (request.probe) {
      if (port.wakes === false && "refuse" in request.probe)
        this.#record(request, "portAsleep", request.probe.refuse.status);
      this.#resolve(request, request.probe);
      return;
    }
    const refuse = refusalOf(service, why, request.held ? coldStartHeaders(request) : []);
    this.#record(request, why, why === "clientGone" ? 0 : refuse.status);
    this.#resolve(request, { refuse });
  }

  #resolve(request: GateRequest, destination: Destination): void {
    request.destination = destination;
    request.resolve?.(destination);
  }

  #why(outcome: Exclude<HoldOutcome, "released">): Worded {
    // Without descriptors there is no room, see below.
    return outcome === "overflowCount" && this.#options.descriptors.short ? "descriptors" : outcome;
  }

  /** The room of one queue: that of its Service, or its share of all, less what the Service's other queues hold. */
  #room(queueKey: string): Room {
    const service = this.queues.get(queueKey)?.service;
    if (!service || this.#options.descriptors.short) return { count: 0, bytes: 0 };
    const { overall, share } = this.#options;
    const { count, bytes } = this.hold.waiting(queueKey);
    const { maxPending, maxPendingBytes } = service.hold;
    const all = this.hold.waiting();
    return {
      count: Math.min(maxPending, share * (overall.count - all.count)) - (service.pending - count),
      bytes: Math.min(maxPendingBytes, share * (overall.bytes - all.bytes)) - (service.pendingBytes - bytes),
    };
  }

  #record(request: GateRequest, outcome: "released" | Rejection, status: number): void {
    const { queue, held, waited, began, exchange } = request;
    const { clock, accessLog } = this.#options;
    const took = clock.monotonic() - began;
    if (!held && outcome === "released") {
      accessLog.passed(queue.service, status, took);
      return;
    }
    const { method, path } = exchange;
    accessLog.ended({
      service: queue.service,
      outcome,
      held,
      waited,
      took,
      status,
      method,
      path: held ? shown(path) : "",
    });
  }
}

/** Whether it is a connection of which only the bytes are forwarded. */
function isOpaque({ protocol }: Exchange): boolean {
  return protocol === "tcp";
}

/** Other requests share the connections to pods: they are released a few at a time. */
function needsOwnConnection(exchange: Exchange): boolean {
  return isOpaque(exchange) || exchange.upgrade !== undefined;
}

function protocolOf({ protocol }: Exchange): "http1" | "h2c" {
  return protocol.startsWith("h2") ? "h2c" : "http1";
}

function coldStartHeaders({ waited }: GateRequest): readonly string[] {
  return ["x-evenkeel-cold-start", "true", "x-evenkeel-wait-ms", String(waited)];
}

/** A path without its query, which may contain secrets. */
function shown(path: string): string {
  const mark = path.indexOf("?");
  return path.slice(0, Math.min(mark < 0 ? path.length : mark, LONGEST_PATH));
}
