import type { X509Certificate } from "node:crypto";
import type { TlsOptions } from "node:tls";

/** The protocol of the client. `tcp`: its bytes are forwarded as they are; see `ListenerOptions.opaque`. */
export type ClientProtocol = "http/1.0" | "http/1.1" | "h2c" | "h2" | "tcp";

/**
 * The known parts of a request before its body is read. An opaque connection is one request with the method `TCP` and
 * empty other parts.
 */
export interface Head {
  readonly method: string;
  /**
   * Path and query as received (`*` for a request to the server itself). A target with scheme and host is reduced to
   * its path.
   */
  readonly path: string;
  /** The Host header or `:authority` as received; empty if an HTTP/1.0 request has none. */
  readonly host: string;
  /** Alternating names and values, as received, without pseudo-headers. */
  readonly headers: readonly string[];
  readonly protocol: ClientProtocol;
  readonly scheme: "http" | "https";
  readonly remoteAddress: string;
  /** The name of the listener that accepted the request. */
  readonly listener: string;
  /** The protocol that an HTTP/1.1 client wants to upgrade to, such as `websocket` or `SPDY/3.1`. */
  readonly upgrade: string | undefined;
  /** Whether a body was announced. It stays unread, and `100 Continue` unsent, until an upstream reads it. */
  readonly hasBody: boolean;
}

/**
 * The certificate that a client sent in its TLS handshake, and the verdict of that time: a connection may outlive the
 * certificate, or an authority that was removed.
 */
export interface ClientCertificate {
  readonly certificate: X509Certificate;
  /** Whether it is valid and one of the listener's authorities issued it, directly or by a chain. */
  readonly verified: boolean;
  /** Why it is not: a code of OpenSSL, such as `CERT_HAS_EXPIRED`. */
  readonly fault: string | undefined;
  /** The listener's authorities at that time, as they were given: the same value until they are renewed. */
  readonly authorities: TlsOptions["ca"];
}

export interface LeaveListener {
  /** Called once. Must not throw. */
  left(): void;
}

/** A request and its response, as a router sees it. */
export interface Exchange extends Head {
  /** Undefined if the client sent none, or the listener requests none: see `requestCert` of `ListenerOptions.tls`. */
  readonly client: ClientCertificate | undefined;
  /** The first value of a header; `name` is in lower case. */
  header(name: string): string | undefined;
  /**
   * Called when the client disconnects before it has the whole response. This includes a held request with an unread
   * body, where only interim responses detect it (see `limits.probe`), but no held opaque connection or upgrade with
   * 64 KiB of unread data. One listener instead of a signal, because thousands are held.
   */
  whenLeft: LeaveListener | undefined;
  /** Whether the client has disconnected. */
  readonly left: boolean;
  /** Bytes of the response's body that have been written to the client; refusals and tunnels are not counted. */
  readonly sentBytes: number;
  /** Milliseconds since the client opened its connection; Infinity if that is not known: in HTTP/2, and with TLS. */
  readonly connectionAge: number;
  /** Closes the client's connection after this response: `connection: close` in HTTP/1.1, GOAWAY in HTTP/2. */
  closeAfter(): void;
  /**
   * Does not read the client's connection for a moment after this response, because others wait: until
   * `Forwarder.readOn`, and at most about 100 ms. The next request on it waits for that time. No effect in HTTP/2.
   */
  unreadAfter(): void;
}
