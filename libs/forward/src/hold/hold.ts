import type { Clock } from "@evenkeel/runtime";
import { Wheel } from "../wheel.ts";
import { RequestQueue } from "./request-queue.ts";
import type { HoldOutcome, Settlement, Slot } from "./outcome.ts";
import { QueuedRequest } from "./queued-request.ts";

export interface Room {
  /** Requests. */
  readonly count: number;
  /** Bytes, as the entries state them. */
  readonly bytes: number;
}

export interface HoldOptions<Held, Upstream extends string | object> {
  readonly clock: Clock;
  /** Limit of one key: the same for all, or computed for each request that has to wait. */
  readonly perKey: Room | ((key: string) => Room);
  /** Limit of all keys together. */
  readonly overall: Room;
  /**
   * Called at the end of every wait, once, and within the call that caused it. It may call `enter`, `leave` and
   * `slot.done()`. It must not throw. A released request owns its slot until `slot.done()` is called.
   */
  readonly settle: (held: Held, settlement: Settlement<Upstream>) => void;
}

export interface Entry {
  /** Bytes that count against the limit: headers and the buffered part of the body. */
  readonly bytes: number;
  /** Milliseconds that it may wait. */
  readonly wait: number;
  /**
   * When its wait began, by `monotonic`, for a request that was released without success. It returns to its former
   * queue position, even if the queue is full, and its wait is counted from there.
   */
  readonly since?: number | undefined;
}

/** Waiting requests and their bytes. */
type Waiting = Room;

const NONE: Waiting = { count: 0, bytes: 0 };

/**
 * Requests that wait until their key has an upstream: one bounded queue per key, first in, first out. While a key has
 * no upstream, every request waits. As soon as one is offered, requests are released in order, at most `cap` per
 * upstream at once, so that a burst uses few connections, which are reused. If a slot is free and no request waits, a
 * request is released at once.
 */
export class Hold<Held, Upstream extends string | object> {
  readonly #options: HoldOptions<Held, Upstream>;
  readonly #queues = new Map<string, RequestQueue<Held, Upstream>>();
  readonly #deadlines: Wheel;
  #count = 0;
  #bytes = 0;

  constructor(options: HoldOptions<Held, Upstream>) {
    this.#options = options;
    this.#deadlines = new Wheel(options.clock);
  }

  /** The requests that wait for `key`, or for all keys. */
  waiting(key?: string): Waiting {
    if (key === undefined) return { count: this.#count, bytes: this.#bytes };
    const queue = this.#queues.get(key);
    return queue ? { count: queue.length, bytes: queue.bytes } : NONE;
  }

  /**
   * Queues a request. The result is for `leave`; undefined if its wait has ended already, by a release or because the
   * queue is full. `entry` is read only if the request has to wait.
   */
  enter(key: string, held: Held, entry: Entry): QueuedRequest<Held, Upstream> | undefined {
    const queue = this.#queue(key);
    if (queue.length === 0 && !queue.serving) {
      const slot = this.#take(queue);
      if (slot) {
        this.#options.settle(held, { outcome: "released", waited: 0, slot });
        return undefined;
      }
    }
    const { bytes, wait, since } = entry;
    const overflow = since === undefined ? this.#overflow(queue, bytes) : undefined;
    if (overflow) {
      this.#forgetIdle(queue);
      this.#options.settle(held, { outcome: overflow, waited: 0 });
      return undefined;
    }
    const now = this.#now();
    const request = new QueuedRequest(queue, held, bytes, since === undefined ? now : Math.min(now, Math.floor(since)));
    if (since === undefined) queue.push(request);
    else queue.insert(request);
    this.#count += 1;
    this.#bytes += bytes;
    if (wait < Infinity) this.#deadlines.set(request, wait - (now - request.since));
    return request;
  }

  /** The client disconnected. Does nothing if the wait has ended before. */
  leave(request: QueuedRequest<Held, Upstream>): void {
    this.#end(request, "clientGone");
  }

  /**
   * `upstream` accepts requests for `key`, at most `cap` at once. Call it again to change the cap. Releases waiting
   * requests at once.
   */
  offer(key: string, upstream: Upstream, cap: number): void {
    const queue = this.#queue(key);
    queue.slots.offer(upstream, cap);
    this.#serve(queue);
  }

  /** Sends no further requests to `upstream`. Without any upstream the key's requests wait again. */
  withdraw(key: string, upstream: Upstream): void {
    const queue = this.#queues.get(key);
    if (!queue) return;
    queue.slots.withdraw(upstream);
    this.#forgetIdle(queue);
  }

  /**
   * Ends the waits of a key, or of all keys, in the order of the queues. Requests that enter afterwards wait as usual.
   */
  drain(key?: string): void {
    const queues = key === undefined ? [...this.#queues.values()] : [this.#queues.get(key)];
    for (const queue of queues) {
      // Requests that enter during the drain are not part of it.
      for (let rest = queue?.length ?? 0; rest > 0 && queue?.first; rest--) this.#end(queue.first, "drained");
    }
  }

  readonly #expire = (request: QueuedRequest<Held, Upstream>) => this.#end(request, "deadline");

  #now(): number {
    return Math.floor(this.#options.clock.monotonic());
  }

  #queue(key: string): RequestQueue<Held, Upstream> {
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = new RequestQueue(key, this.#expire)));
    return queue;
  }

  #forgetIdle(queue: RequestQueue<Held, Upstream>): void {
    if (queue.length === 0 && queue.slots.size === 0 && this.#queues.get(queue.key) === queue)
      this.#queues.delete(queue.key);
  }

  #overflow(queue: RequestQueue<Held, Upstream>, bytes: number): "overflowCount" | "overflowBytes" | undefined {
    const { perKey, overall } = this.#options;
    const room = typeof perKey === "function" ? perKey(queue.key) : perKey;
    if (queue.length >= room.count || this.#count >= overall.count) return "overflowCount";
    if (queue.bytes + bytes > room.bytes || this.#bytes + bytes > overall.bytes) return "overflowBytes";
    return undefined;
  }

  #take(queue: RequestQueue<Held, Upstream>): Slot<Upstream> | undefined {
    const upstream = queue.slots.take();
    if (upstream === undefined) return undefined;
    let given = false;
    return {
      upstream,
      done: () => {
        if (given) return;
        given = true;
        queue.slots.free(upstream);
        this.#serve(queue);
        this.#forgetIdle(queue);
      },
    };
  }

  #serve(queue: RequestQueue<Held, Upstream>): void {
    if (queue.serving) return;
    queue.serving = true;
    try {
      while (queue.first) {
        const slot = this.#take(queue);
        if (!slot) return;
        const request = queue.first;
        this.#remove(request, queue);
        this.#options.settle(request.held, { outcome: "released", waited: this.#now() - request.since, slot });
      }
    } finally {
      queue.serving = false;
    }
  }

  #end(request: QueuedRequest<Held, Upstream>, outcome: Exclude<HoldOutcome, "released">): void {
    const { queue } = request;
    if (!queue) return;
    this.#remove(request, queue);
    this.#forgetIdle(queue);
    this.#options.settle(request.held, { outcome, waited: this.#now() - request.since });
  }

  #remove(request: QueuedRequest<Held, Upstream>, queue: RequestQueue<Held, Upstream>): void {
    this.#deadlines.clear(request);
    queue.remove(request);
    this.#count -= 1;
    this.#bytes -= request.bytes;
  }
}
