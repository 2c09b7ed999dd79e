import type { Origin } from "../destination.ts";
import { Stopping } from "../errors.ts";
import { OriginPool, type OriginPoolOptions } from "./origin-pool.ts";

/** The pools of one forwarder, by origin. */
export class Origins {
  readonly #options: Omit<OriginPoolOptions, "origin" | "idle">;
  readonly #pools = new Map<string, OriginPool>();
  #closed = false;
  #byObject = new WeakMap<Origin, OriginPool>();

  constructor(options: Omit<OriginPoolOptions, "origin" | "idle">) {
    this.#options = options;
  }

  get size(): number {
    return this.#pools.size;
  }

  /** Throws once it is closed. */
  pool(origin: Origin): OriginPool {
    if (this.#closed) throw new Stopping({});
    const known = this.#byObject.get(origin);
    if (known && !known.closed) return known;
    const key = keyOf(origin);
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = new OriginPool({ ...this.#options, origin, idle: () => this.#pools.delete(key) });
      this.#pools.set(key, pool);
    }
    this.#byObject.set(origin, pool);
    return pool;
  }

  inFlight(origin: Origin): number {
    return this.#pools.get(keyOf(origin))?.inFlight ?? 0;
  }

  close(): void {
    this.#closed = true;
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
    this.#byObject = new WeakMap();
  }
}

function keyOf({ host, port, protocol, tls }: Origin): string {
  const key = `${protocol}//${host}:${port}`;
  return tls ? `${key}/${tls.servername ?? ""}/${tls.id}` : key;
}
