/** What the client speaks. */
export type ClientProtocol = "http/1.0" | "http/1.1" | "h2c" | "h2";

/** What is known of a request before anything of its body is read. */
export interface Head {
  readonly method: string;
  /** Path and query as they came (`*` for a request of the server itself). A target with scheme and host is cut to its path. */
  readonly path: string;
  /** The Host header or `:authority` as it came; empty where HTTP/1.0 sends none. */
  readonly host: string;
  /** Alternating names and values, as they came. Pseudo-headers are not among them. */
  readonly headers: readonly string[];
  readonly protocol: ClientProtocol;
  readonly scheme: "http" | "https";
  readonly remoteAddress: string;
  /** The name of the listener that took the request. */
  readonly listener: string;
  /** What an HTTP/1.1 client asks to speak from here on, such as `websocket` or `SPDY/3.1`. */
  readonly upgrade: string | undefined;
  /** Whether a body was announced. It stays unread, and `100 Continue` unsent, until an upstream takes it. */
  readonly hasBody: boolean;
}

export interface LeaveListener {
  /** Called once. Must not throw. */
  left(): void;
}

/** A request and its answer, as a router sees it. */
export interface Exchange extends Head {
  /** The first value of a header; `name` is in lower case. */
  header(name: string): string | undefined;
  /**
   * Who is told when the client is gone before it has its whole answer: also while the request is held with its body unread, where
   * the kernel hides it (interim answers find it; see `limits.probe`). One listener, and not a signal, since thousands are held.
   */
  whenLeft: LeaveListener | undefined;
  /** Whether the client is gone. */
  readonly left: boolean;
  /** The client's connection ends after this answer: `connection: close` in HTTP/1.1, GOAWAY in HTTP/2. */
  closeAfter(): void;
  /**
   * The client's connection is not read for a moment after this answer, since others wait for theirs: until `Forwarder.readOn`, and no
   * longer than some 100 ms. A client that asks again on it waits so long. Of no effect in HTTP/2.
   */
  unreadAfter(): void;
}
