/** A write that waits for the end of the event loop iteration. */
export interface PlannedWrite {
  write(): void;
}

/**
 * Gathers the writes of one iteration of the event loop and makes them one after the other. A single write wakes the process that
 * reads at the other end, which sleeps again before the next one, and waking a process costs more than the write itself.
 */
export class Batch {
  readonly #upstream = new Side();
  readonly #clients = new Side();
  #planned = false;

  /** What upstreams get goes first: they work while the clients are answered. */
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
