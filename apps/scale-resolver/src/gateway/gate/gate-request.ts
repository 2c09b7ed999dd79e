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

/** Who hears what becomes of a request. */
export interface RequestOwner {
  left(request: GateRequest): void;
  answering(request: GateRequest): void;
  settled(request: GateRequest, outcome: Outcome): void;
}

const NOWHERE: Origin = { host: "", port: 0, protocol: "http1" };

/**
 * One request: what waits in the hold, how much it needs there, and the destination that it gets. One object for all three, since there
 * are thousands. A request that had its turn in vain is followed by another that goes on from where it was.
 */
export class GateRequest implements Forward, Entry, LeaveListener {
  readonly queue: PortQueue;
  readonly exchange: Exchange;
  /** Monotonic milliseconds, whole. */
  readonly began: number;
  /** Whether it came by a port of its Service, so that its client may be told to connect anew. */
  readonly byPort: boolean;
  readonly since: number | undefined;
  /** What a probe rule answers it with if it would have to wait. A request that has it counts for no decision. */
  probe: Destination | undefined;
  held: boolean;
  waited = 0;
  /** Tries so far that made a connection and got no answer. */
  breaks: number;
  /** Another request goes on in its place. */
  succeeded = false;
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
