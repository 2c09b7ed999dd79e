/** What bounds reads and writes apart, so that neither stops the other. */
export interface InFlightLimits {
  readonly reads: number;
  readonly writes: number;
  /** Of bodies that are held in memory. */
  readonly bytes: number;
}

/** Counts requests that are in flight. Requests that last as long as the client wants are not counted. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #now = { reads: 0, writes: 0, bytes: 0 };

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  get reads(): number {
    return this.#now.reads;
  }

  get writes(): number {
    return this.#now.writes;
  }

  get bytes(): number {
    return this.#now.bytes;
  }

  /** Takes a slot; undefined if there is none. Call the returned function once, when the request has ended. */
  enter(method: string): (() => void) | undefined {
    return this.#take(kindOf(method), 1);
  }

  /** Takes room for a body; undefined if there is none. Call the returned function once, when the request has ended. */
  hold(bytes: number): (() => void) | undefined {
    return this.#take("bytes", bytes);
  }

  #take(kind: keyof InFlightLimits, count: number): (() => void) | undefined {
    if (this.#now[kind] + count > this.#limits[kind]) return undefined;
    this.#now[kind] += count;
    let open = true;
    return () => {
      if (open) this.#now[kind] -= count;
      open = false;
    };
  }
}

export function kindOf(method: string): "reads" | "writes" {
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? "reads" : "writes";
}
