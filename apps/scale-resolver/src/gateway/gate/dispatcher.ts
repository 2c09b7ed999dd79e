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
import { refusalOf, type Rejection } from "./refusals.ts";
import { isRefusal, wasClosedMeanwhile } from "./refused-connection.ts";
import type { PortQueue } from "./port-queue.ts";

/** Tries of a request that reach a pod and get no answer, where it may be repeated. */
const TRIES = 3;
/** Milliseconds between two calls of `changed` for requests that come one after the other. */
const TELL_AGAIN = 100;
/** Milliseconds for which decisions wait at most for the answers of the last that were handed over. */
const ANSWERS_FIRST = 100;
/** Characters of a path that the access log shows. */
const LONGEST_PATH = 256;
/** Marks a request that was sent to its Service's own address, which may bring it back here. */
export const DIALLED = "evenkeel-dialled";

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly overall: Room;
  readonly descriptors: Descriptors;
  readonly accessLog: AccessLog;
  readonly wake: (key: string) => void;
  readonly changed: (key: string) => void;
  /** Requests that waited for a Service have their answers now, but for long ones. */
  readonly handedOver: () => void;
  /** A pod has begun to answer the first request that was held for `service`, so many milliseconds after something served. Must not throw. */
  readonly firstAnswer: (service: GatedService, milliseconds: number) => void;
  /** None of those that were held since something serves has got one, and none is left. */
  readonly unanswered: (key: string) => void;
}

/** Every request of every Service from its routing to its end: it goes to a pod at once, waits for one, or is refused. */
export class Dispatcher implements RequestOwner {
  readonly hold: Hold<GateRequest, Pod>;
  /** By the line's name. */
  readonly queues = new Map<string, PortQueue>();
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

  /** A request for a Service. `byPort` says that it came by the Service's own port. */
  admit(queue: PortQueue, exchange: Exchange, byPort: boolean): Destination | Promise<Destination> {
    const { service } = queue;
    const probe = service.route.probes.answer(exchange);
    if (probe && !service.serves) return probe;
    const { clock, accessLog } = this.#options;
    const now = clock.monotonic();
    const request = new GateRequest(this, queue, exchange, Math.floor(now), byPort);
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
    if (idle && now - service.toldAt >= TELL_AGAIN) this.#tell(service);
    return destination;
  }

  /** A try failed and may be repeated: the request waits again where it stood, or goes to another pod. */
  again(exchange: Exchange, failure: Failure): Destination | Promise<Destination> | undefined {
    const { forward } = failure;
    if (!(forward instanceof GateRequest) || !forward.pod || forward.queue.service.removed) return undefined;
    const { queue, pod, began, byPort } = forward;
    if (isRefusal(failure)) queue.refused(pod);
    else if (!wasClosedMeanwhile(failure) && (forward.breaks += 1) >= TRIES) return undefined;
    forward.succeeded = true;
    return this.#enter(new GateRequest(this, queue, exchange, began, byPort, forward));
  }

  /** Decisions depend on something of a Service that is not what it was. */
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
    if (service.inFlight === 0 && service.toldLater) this.#tell(service);
    if (request.succeeded) return;
    this.#giveUp(service);
    this.#record(request, "released", status);
  }

  /** There will be no first answer once whoever waited is gone: the next that waits is of another wake, or of none. */
  #giveUp(service: GatedService): void {
    if (service.offeredAt === undefined || service.pending + service.heldInFlight > 0) return;
    service.offeredAt = undefined;
    this.#call(this.#options.unanswered, service);
  }

  /** Hands a request back that can be sent to no Service address again. */
  #direct(request: GateRequest): Destination | undefined {
    const place = request.queue.direct();
    if (!place) return undefined;
    request.origin = { ...place, protocol: protocolOf(request.exchange) };
    if (!request.probe) request.queue.service.inFlight += 1;
    return request;
  }

  #enter(request: GateRequest): Destination | Promise<Destination> {
    const { queue, exchange } = request;
    const { service } = queue;
    if (service.removed && !service.serves) this.#refuse(request, "drained");
    else {
      const queued = this.hold.enter(queue.key, request, request);
      if (queued && request.probe) this.hold.leave(queued);
      else if (queued) {
        request.queued = queued;
        request.held = true;
        service.pending += 1;
        service.pendingBytes += queued.bytes;
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
    if (service.pending === 1) this.#tell(service);
  }

  /**
   * Nobody waits any more. What is decided then costs some milliseconds, which the last of a burst would wait for their answers, so it
   * comes after those; but soon, since an answer may be a stream.
   */
  #tellAfterAnswers(service: GatedService): void {
    if (!service.serves || service.inFlight === 0) this.#tell(service);
    else service.toldLater ??= this.#options.clock.schedule(ANSWERS_FIRST, () => this.#tell(service));
  }

  #tell(service: GatedService): void {
    if (service.toldLater) {
      service.toldLater();
      service.toldLater = undefined;
      this.#options.handedOver();
    }
    service.toldAt = this.#options.clock.monotonic();
    this.changed(service);
  }

  /** A listener's mistake must not cost a request its place, or a place its request. */
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
      exchange.whenLeft = undefined;
    }
    request.waited = settlement.waited;
    if (settlement.outcome === "released") this.#release(request, settlement.slot);
    else this.#refuse(request, this.#why(settlement.outcome));
    if (!queued) return;
    queue.eased();
    if (service.pending > 0) return;
    this.#giveUp(service);
    this.#tellAfterAnswers(service);
  }

  #release(request: GateRequest, slot: NonNullable<GateRequest["slot"]>): void {
    const { exchange, queue, byPort } = request;
    const { service } = queue;
    const pod = slot.upstream;
    request.slot = slot;
    request.pod = pod;
    request.origin = protocolOf(exchange) === "h2c" ? pod.h2c : pod.http1;
    if (service.dialled !== null) request.headers = [DIALLED, service.key];
    if (request.held) {
      request.answerHeaders = coldStartHeaders(request);
      service.heldInFlight += 1;
    }
    if (!request.probe) service.inFlight += 1;
    if (byPort && service.sendsAway) exchange.closeAfter();
    if (queue.waiting > 0) exchange.unreadAfter();
    this.#give(request, request);
  }

  #refuse(request: GateRequest, why: Rejection): void {
    if (request.probe) {
      this.#give(request, request.probe);
      return;
    }
    const { service } = request.queue;
    const refuse = refusalOf(service, why, request.held ? coldStartHeaders(request) : []);
    this.#record(request, why, why === "clientGone" ? 0 : refuse.status);
    this.#give(request, { refuse });
  }

  #give(request: GateRequest, destination: Destination): void {
    request.destination = destination;
    request.resolve?.(destination);
  }

  #why(outcome: Exclude<HoldOutcome, "released">): Rejection {
    // Without descriptors there is no room, see below.
    return outcome === "overflowCount" && this.#options.descriptors.short ? "descriptors" : outcome;
  }

  /** What one line may hold: what its Service may, less what the Service's other ports hold. */
  #room(queueKey: string): Room {
    const service = this.queues.get(queueKey)?.service;
    if (!service || this.#options.descriptors.short) return { count: 0, bytes: 0 };
    const { count, bytes } = this.hold.waiting(queueKey);
    const { maxPending, maxPendingBytes } = service.hold;
    return {
      count: maxPending - (service.pending - count),
      bytes: maxPendingBytes - (service.pendingBytes - bytes),
    };
  }

  #record(request: GateRequest, outcome: "released" | Rejection, status: number): void {
    const { queue, held, waited, began, exchange } = request;
    const { clock, accessLog } = this.#options;
    const { method, path } = exchange;
    const took = clock.monotonic() - began;
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

function protocolOf({ protocol }: Exchange): "http1" | "h2c" {
  return protocol.startsWith("h2") ? "h2c" : "http1";
}

function coldStartHeaders({ waited }: GateRequest): readonly string[] {
  return ["x-evenkeel-cold-start", "true", "x-evenkeel-wait-ms", String(waited)];
}

/** A path without its query, which may hold what no log should. */
function shown(path: string): string {
  const mark = path.indexOf("?");
  return path.slice(0, Math.min(mark < 0 ? path.length : mark, LONGEST_PATH));
}
