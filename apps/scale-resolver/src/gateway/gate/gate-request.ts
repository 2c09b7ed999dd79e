import {
  type Destination,
  type Entry,
  type Exchange,
  type Forward,
  heldBytes,
  type LeaveListener,
  type Origin,
  type Outcome,
  type QueuedRequest,
  type Slot,
} from "@evenkeel/forward";
import type { Pod } from "./pod.ts";
import type { PortQueue } from "./port-queue.ts";

/** Is told the result of a request. */
export interface RequestOwner {
  left(request: GateRequest): void;
  answering(request: GateRequest): void;
  settled(request: GateRequest, outcome: Outcome): void;
}

const NOWHERE: Origin = { host: "", port: 0, protocol: "http1" };

/**
 * One request: the entry in the hold, its size there, and its destination. One object for all three, because there are
 * thousands. A failed try is followed by a new object that continues from there.
 */
export class GateRequest implements Forward, Entry, LeaveListener {
  readonly queue: PortQueue;
  readonly exchange: Exchange;
  /** Monotonic milliseconds, rounded. */
  readonly began: number;
  /** Whether it arrived at a port of its Service, so that the client may be told to reconnect. */
  readonly byPort: boolean;
  readonly since: number | undefined;
  /**
   * The response of a probe rule, or of a port that does not wake, if the request would have to wait. Such a request
   * does not count for decisions.
   */
  probe: Destination | undefined;
  held: boolean;
  waited = 0;
  /** Tries that made a connection and got no response. */
  breaks: number;
  /** Whether another object continues this request. */
  replaced = false;
  origin: Origin = NOWHERE;
  headers?: readonly string[];
  answerHeaders?: readonly string[];
  pod: Pod | undefined = undefined;
  slot: Slot<Pod> | undefined = undefined;
  queued: QueuedRequest<GateRequest, Pod> | undefined = undefined;
  destination: Destination | undefined = undefined;
  resolve: ((destination: Destination) => void) | undefined = undefined;
  readonly #owner: RequestOwner;

  constructor(
    owner: RequestOwner,
    queue: PortQueue,
    exchange: Exchange,
    began: number,
    byPort: boolean,
    before?: GateRequest,
  ) {
    this.#owner = owner;
    this.queue = queue;
    this.exchange = exchange;
    this.began = began;
    this.byPort = byPort;
    this.since = before?.began;
    this.probe = before?.probe;
    this.held = before?.held ?? false;
    this.breaks = before?.breaks ?? 0;
  }

  get bytes(): number {
    return heldBytes(this.exchange);
  }

  get wait(): number {
    return this.queue.service.hold.timeout;
  }

  left(): void {
    this.#owner.left(this);
  }

  answering(): void {
    this.#owner.answering(this);
  }

  settled(outcome: Outcome): void {
    this.#owner.settled(this, outcome);
  }
}
