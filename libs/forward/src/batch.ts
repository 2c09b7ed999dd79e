/** A write that waits for the end of the event loop iteration. */
export interface PlannedWrite {
  write(): void;
}

/**
 * Collects the writes of one event loop iteration and makes them one after the other. Each single write would wake the
 * reading process, which sleeps again before the next write, and a wake costs more than the write.
 */
export class Batch {
  readonly #upstream = new Side();
  readonly #clients = new Side();
  #planned = false;

  /** Writes to upstreams are made first: upstreams work while the clients get their responses. */
  toUpstream(planned: PlannedWrite): void {
    this.#upstream.push(planned);
    this.#plan();
  }

  toClient(planned: PlannedWrite): void {
    this.#clients.push(planned);
    this.#plan();
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(this.#write);
  }

  readonly #write = (): void => {
    this.#planned = false;
    this.#upstream.write();
    this.#clients.write();
  };
}

class Side {
  #waiting: PlannedWrite[] = [];

  push(planned: PlannedWrite): void {
    this.#waiting.push(planned);
  }

  write(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const one of waiting) one.write();
  }
}
