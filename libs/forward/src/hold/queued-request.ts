import { Timed } from "../wheel.ts";
import type { RequestQueue } from "./request-queue.ts";

/**
 * A held request in a queue. There may be very many, so it has no timer, promise or closure of its own. Times are whole
 * milliseconds, which the engine keeps inside the object.
 */
export class QueuedRequest<Held, Upstream extends string | object> extends Timed {
  readonly held: Held;
  readonly bytes: number;
  readonly since: number;
  /** Undefined after its wait has ended. */
  queue: RequestQueue<Held, Upstream> | undefined;
  previous: QueuedRequest<Held, Upstream> | undefined = undefined;
  next: QueuedRequest<Held, Upstream> | undefined = undefined;

  constructor(queue: RequestQueue<Held, Upstream>, held: Held, bytes: number, since: number) {
    super();
    this.queue = queue;
    this.held = held;
    this.bytes = bytes;
    this.since = since;
  }

  expire(): void {
    this.queue?.expire(this);
  }
}
