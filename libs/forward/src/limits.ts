/** In milliseconds; 0 means none. The accuracy is 50 ms. */
export interface Deadlines {
  /** For a connection to the upstream. */
  readonly connect: number;
  /**
   * Of each try: from its start, or from the last part of the request's body that was sent, to the head of the answer.
   */
  readonly response: number;
  /** From the routing to the end of the answer, over all tries; tunnels are exempt. */
  readonly total: number;
  /** How long a client that expects `100 Continue` waits for the upstream's response before its body is read anyway. */
  readonly expect: number;
  /**
   * Maximum time without data of either body, from the first part of the request's body or the head of the response. It
   * also applies to the last bytes of a response that only wait for the client. Tunnels are exempt. Progress of a
   * client is only visible when the kernel accepts more data, in steps of about a hundred kilobytes, so the limit must
   * allow a slow client to read that much.
   */
  readonly idle?: number;
}

export const defaultDeadlines: Deadlines = { connect: 5_000, response: 60_000, total: 0, expect: 1_000, idle: 0 };

export interface ForwardLimits {
  /** Maximum bytes of a request's head, or of a response's head; more is 431, or 502. */
  readonly headBytes: number;
  /** Maximum milliseconds for a request's head. */
  readonly headTime: number;
  /** Maximum open client connections of all listeners. More are closed at once. */
  readonly connections: number;
  /**
   * A listener, or a group of them, accepts a connection only while it has fewer than this many times the free ones, so
   * that it cannot use up `connections`: with 2, the first gets at most two thirds, and each further one at most two
   * thirds of what the others left. The same holds for `earlyBytes`. Infinity disables it.
   */
  readonly share: number;
  /**
   * Maximum bytes in memory that clients of opaque connections and upgrades have sent before they are joined with an
   * upstream, of all listeners. A client that sends more, or more than the share of its listener, is reset, and counts
   * as left.
   */
  readonly earlyBytes: number;
  /** Maximum open streams on one HTTP/2 client connection. */
  readonly streams: number;
  /** Maximum idle time of a client connection, in milliseconds. */
  readonly clientIdle: number;
  /** Maximum idle time of an upstream connection, and of an unused pool, in milliseconds. */
  readonly upstreamIdle: number;
  /** Maximum connections to one origin. More requests wait. */
  readonly upstreamConnections: number;
  /** Maximum tries of one request, including the first, unless the router decides. */
  readonly tries: number;
  /**
   * Milliseconds between two `100 Continue` to a held HTTP/1.1 upload with a full buffer, because a disconnect is not
   * visible while the body is unread. Two of them detect it. Requests through a proxy, by their headers, get none:
   * nginx treats the first as the response, and clients of Go before 1.24 fail after five. 0 disables it.
   */
  readonly probe: number;
}

export const defaultLimits: ForwardLimits = {
  headBytes: 32 * 1024,
  headTime: 20_000,
  connections: 50_000,
  share: Infinity,
  earlyBytes: 128 * 1024 * 1024,
  streams: 250,
  clientIdle: 75_000,
  upstreamIdle: 30_000,
  upstreamConnections: 1_024,
  tries: 2,
  probe: 450,
};
