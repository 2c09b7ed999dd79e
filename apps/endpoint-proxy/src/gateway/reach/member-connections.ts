import { Agent, type Dispatcher } from "undici";
import type { Origin } from "@evenkeel/forward";
import type { Component } from "@evenkeel/runtime";

/** Milliseconds that an idle connection is kept: less than API servers (90 s) and most load balancers (60 s) do. */
const KEEP_ALIVE = 30_000;

/** Milliseconds that opening a connection may take. */
const CONNECT_TIMEOUT = 5_000;

/** Maximum pools. The least recently used is closed when what runs on it has ended. */
const MOST = 200;

/** Connections to members that are kept open, one pool for each origin and its TLS material. */
export class MemberConnections implements Component {
  readonly name = "member connections";
  readonly #pools = new Map<string, Agent>();

  to(origin: Origin): Dispatcher {
    const key = `${origin.host} ${origin.port} ${origin.tls?.id ?? ""}`;
    const pool = this.#pools.get(key) ?? create(origin);
    this.#pools.delete(key);
    this.#pools.set(key, pool);
    for (const [oldest, unused] of this.#pools) {
      if (this.#pools.size <= MOST) break;
      this.#pools.delete(oldest);
      void unused.close();
    }
    return pool;
  }

  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), (pool) => pool.destroy()));
    this.#pools.clear();
  }
}

function create({ tls }: Origin): Agent {
  const { ca, cert, key, servername } = tls ?? {};
  return new Agent({
    ...{ pipelining: 1, allowH2: false, keepAliveTimeout: KEEP_ALIVE, keepAliveMaxTimeout: KEEP_ALIVE },
    connect: {
      ...{ timeout: CONNECT_TIMEOUT, keepAlive: true, keepAliveInitialDelay: 15_000, maxCachedSessions: 0 },
      ...{ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), ...(servername && { servername }) },
    },
  });
}
