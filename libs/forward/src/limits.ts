/** Milliseconds each; 0 means none. They are kept to within 50 ms. */
export interface Deadlines {
  /** For a connection to the upstream. */
  readonly connect: number;
  /** Of each try: from its start, or from the last part of the request's body that was sent, to the head of the answer. */
  readonly response: number;
  /** From the routing to the end of the answer, over all tries; tunnels are exempt. */
  readonly total: number;
  /** How long a client that expects `100 Continue` waits for the upstream's word before its body is asked for anyway. */
  readonly expect: number;
  /**
   * Without a byte of either body that moves, from the first part of a request's body or the head of the answer on; also for the last
   * bytes of an answer, once they wait for the client alone. Tunnels are exempt. That a client reads shows only when the kernel takes
   * more for it, by the hundred kilobyte: it should be long enough for a slow client to read as much.
   */
  readonly idle?: number;
}

export const defaultDeadlines: Deadlines = { connect: 5_000, response: 60_000, total: 0, expect: 1_000, idle: 0 };

export interface ForwardLimits {
  /** Bytes of a request's head, or of an upstream's answer's; more is 431, or 502. */
  readonly headBytes: number;
  /** How long a client may take for its request's head, in milliseconds. */
  readonly headTime: number;
  /** Open connections of clients, at all listeners together; more are closed at once. */
  readonly connections: number;
  /** Streams that an HTTP/2 client may have open on one connection. */
  readonly streams: number;
  /** How long a client's connection may be idle, in milliseconds. */
  readonly clientIdle: number;
  /** How long an upstream's connection may be idle, in milliseconds; also after how long a pool without use is dropped. */
  readonly upstreamIdle: number;
  /** Connections to one origin; what is more waits. */
  readonly upstreamConnections: number;
  /** Tries of one request, the first among them, where the router does not say otherwise. */
  readonly tries: number;
  /**
   * Every so many milliseconds a held HTTP/1.1 upload whose buffer is full gets `100 Continue`, since a client that left shows by no
   * other sign while its body is unread. A client is found gone after two of them. Who comes by a proxy, as its headers say, gets none:
   * nginx takes the first for the answer, and clients of Go before 1.24 give up after five. 0 sends none to anybody.
   */
  readonly probe: number;
}

export const defaultLimits: ForwardLimits = {
  headBytes: 32 * 1024,
  headTime: 20_000,
  connections: 50_000,
  streams: 250,
  clientIdle: 75_000,
  upstreamIdle: 30_000,
  upstreamConnections: 1_024,
  tries: 2,
  probe: 450,
};
