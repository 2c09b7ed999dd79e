import type { QueuedRequest } from "./queued-request.ts";
import { Slots } from "./slots.ts";

/** The requests that wait for one key, in the order of their arrival, and the upstreams for them. */
export class RequestQueue<Held, Upstream extends string | object> {
  readonly key: string;
  /** Called when a request has waited too long. */
  readonly expire: (request: QueuedRequest<Held, Upstream>) => void;
  readonly slots = new Slots<Upstream>();
  /**
   * True while requests are released, so that a slot that is freed meanwhile does not start a second release within the
   * first.
   */
  serving = false;
  #first: QueuedRequest<Held, Upstream> | undefined;
  #last: QueuedRequest<Held, Upstream> | undefined;
  #length = 0;
  #bytes = 0;

  constructor(key: string, expire: (request: QueuedRequest<Held, Upstream>) => void) {
    this.key = key;
    this.expire = expire;
  }

  get first(): QueuedRequest<Held, Upstream> | undefined {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  /** The sum over its requests. */
  get bytes(): number {
    return this.#bytes;
  }

  push(request: QueuedRequest<Held, Upstream>): void {
    request.previous = this.#last;
    if (this.#last) this.#last.next = request;
    else this.#first = request;
    this.#last = request;
    this.#length += 1;
    this.#bytes += request.bytes;
  }

  /**
   * Inserts a request after all that have waited at least as long. There are few of these for a request that returns.
   */
  insert(request: QueuedRequest<Held, Upstream>): void {
    let next = this.#first;
    while (next && next.since <= request.since) next = next.next;
    if (!next) {
      this.push(request);
      return;
    }
    request.next = next;
    request.previous = next.previous;
    if (next.previous) next.previous.next = request;
    else this.#first = request;
    next.previous = request;
    this.#length += 1;
    this.#bytes += request.bytes;
  }

  /** Removes a request, which must be in this queue. */
  remove(request: QueuedRequest<Held, Upstream>): void {
    if (request.previous) request.previous.next = request.next;
    else this.#first = request.next;
    if (request.next) request.next.previous = request.previous;
    else this.#last = request.previous;
    request.previous = request.next = request.queue = undefined;
    this.#length -= 1;
    this.#bytes -= request.bytes;
  }
}
