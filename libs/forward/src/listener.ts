import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { Http1Exchange, noteConnected } from "./client/http1-exchange.ts";
import { Http2Exchange } from "./client/http2-exchange.ts";
import { refusalHeaders, refuseRaw } from "./client/raw-refusal.ts";
import { isHost, isMethod, isPath, ShapeFault, shapeOf } from "./client/request-shape.ts";
import { isTaken, waitInPipeline } from "./client/pipelining.ts";
import { resetSocket } from "./client/reset-socket.ts";
import { TcpExchange } from "./client/tcp-exchange.ts";
import { UpgradeStart, upgradeToken } from "./client/upgrade-start.ts";
import { refusalOf } from "./client/verdict.ts";
import type { Engine } from "./engine.ts";
import { BadRequest, CannotListen, HeadTooLarge, HeadTooSlow, NotForwarded } from "./errors.ts";
import { type OpaqueConnections, Sniffer } from "./sniffer.ts";
import { TlsListener } from "./tls-listener.ts";

/**
 * Maximum connections that wait to be accepted: a burst may arrive in one event loop iteration. The system's limit
 * applies if it is lower.
 */
const BACKLOG = 4_096;

export interface ListenerOptions {
  /** The name in every exchange of this listener. */
  readonly name: string;
  /** All addresses if absent. */
  readonly host?: string | undefined;
  /** 0 selects a free port. */
  readonly port: number;
  /** The setting of the port, for the error message. */
  readonly flag?: string | undefined;
  /**
   * Certificate, key and other TLS options of Node. With it the port accepts TLS, and only TLS unless `plaintext` is
   * set. With `requestCert`, clients are asked for a certificate of the authorities in `ca`, and exchanges have it; set
   * `rejectUnauthorized` to false to accept clients without a valid one.
   */
  readonly tls?: (TlsOptions & { readonly plaintext?: boolean }) | undefined;
  /**
   * Which connections are forwarded as they are, each as one exchange with the protocol `tcp`: `none`, all that do not
   * begin as HTTP does (`unlessHttp`; TLS is such a one), or `all`, also of protocols in which the server speaks first.
   * Called for each connection; default: `none`. Not for a listener with `tls`.
   */
  readonly opaque?: (() => OpaqueConnections) | undefined;
  /** With `opaque` all: connections that begin with this are HTTP/1.1 all the same. */
  readonly httpStart?: string | undefined;
  /** Listeners with the same object have one `limits.share` together. Default: each has its own. */
  readonly group?: object | undefined;
}

/**
 * One port: HTTP/1.1, HTTP/2 by prior knowledge and, with a certificate, both over TLS, detected by the first bytes.
 */
export class Listener {
  readonly name: string;
  readonly #engine: Engine;
  readonly #options: ListenerOptions;
  readonly #http1: Server;
  readonly #http2: Http2Server;
  readonly #tls: TlsListener | undefined;
  readonly #serveHttp1: (socket: Duplex) => void;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #port = 0;
  #emptied: () => void = () => undefined;

  constructor(engine: Engine, options: ListenerOptions) {
    this.name = options.name;
    this.#engine = engine;
    this.#options = options;
    const { limits } = engine;
    this.#http1 = createServer({
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headTime,
      // The duration of a request is not limited: uploads take long, and held ones wait.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(5_000, Math.max(100, limits.headTime / 4)),
      keepAliveTimeout: limits.clientIdle,
      insecureHTTPParser: false,
      // Most requests have no body, and then need no stream for it.
      optimizeEmptyRequests: true,
      // This class refuses such requests with an error code.
      requireHostHeader: false,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
      shouldUpgradeCallback: (request) => upgradeToken(request) !== undefined && !isTaken(request.socket),
    });
    // Node silently drops headers beyond its maximum count. The bytes are limited anyway.
    this.#http1.maxHeadersCount = 0;
    this.#http1.on("request", (request, response) => this.#request(request, response, false));
    this.#http1.on("checkContinue", (request, response) => this.#request(request, response, true));
    this.#http1.on("upgrade", (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    this.#http1.on("connect", (_request, socket: Duplex) => {
      refuseRaw(this.#engine, socket, 501, new NotForwarded({ what: "CONNECT" }));
    });
    this.#http1.on("clientError", (error, socket) => this.#clientError(error, socket));
    const [serve] = this.#http1.listeners("connection");
    this.#serveHttp1 = (socket) => (serve as (this: Server, socket: Duplex) => void).call(this.#http1, socket);
    this.#http1.removeAllListeners("connection");
    this.#http1.on("connection", (socket: Socket) => this.#connection(socket));
    this.#http2 = createHttp2Server({
      settings: {
        maxConcurrentStreams: limits.streams,
        initialWindowSize: 256 * 1024,
        maxHeaderListSize: limits.headBytes,
      },
      maxHeaderListPairs: 1024,
    });
    this.#http2.on("stream", (stream, head, flags, raw) => this.#stream(stream, head, flags, raw));
    this.#http2.on("session", (session) => this.#session(session));
    this.#http2.on("sessionError", () => undefined);
    if (options.tls) {
      this.#tls = new TlsListener(options.name, options.tls, (socket) => {
        if (socket.alpnProtocol === "h2") this.#serveHttp2(socket);
        else this.#serveHttp1(socket);
      });
    }
  }

  /** The port number, once started. */
  get port(): number {
    return this.#port;
  }

  /** Number of open client connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    const { host, port, flag } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    this.#http1.once("error", reject);
    this.#http1.listen({ port, backlog: BACKLOG, ...(host === undefined ? {} : { host }) }, () => resolve(undefined));
    try {
      await promise;
    } catch (cause) {
      const address = `${host ?? "*"}:${port}`;
      throw new CannotListen(
        { listener: this.name, address, flag: flag === undefined ? "code" : `--${flag}` },
        { cause },
      );
    }
    this.#http1.removeAllListeners("error");
    this.#http1.on("error", (error) => this.#engine.log.warn({ error, listener: this.name }, "cannot accept"));
    this.#port = (this.#http1.address() as AddressInfo).port;
  }

  /**
   * Replaces certificate, key or client authorities for new connections; what `tls` does not name stays. Open
   * connections go on. Throws if the material is unusable, and nothing changes.
   */
  renew(tls: Pick<TlsOptions, "cert" | "key" | "ca">): void {
    this.#tls?.renew(tls);
  }

  /**
   * Stops accepting and resolves when all exchanges have ended. When `deadline` aborts, cuts the others and resolves
   * with their number.
   */
  async close(deadline: AbortSignal): Promise<number> {
    this.#engine.draining = true;
    let cut = 0;
    const cutAll = () => {
      cut = this.#engine.inFlight;
      for (const session of this.#sessions) session.destroy();
      // Below TLS, Node does not know whether the end of a connection is on its way.
      const cutSocket = this.#tls ? (socket: Socket) => socket.destroy() : resetSocket;
      for (const socket of this.#sockets) cutSocket(socket);
    };
    const closed = new Promise<void>((resolve) => this.#http1.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    for (const socket of this.#sockets) if (Sniffer.waits(socket)) socket.destroy();
    deadline.addEventListener("abort", cutAll, { once: true });
    if (deadline.aborted) cutAll();
    await closed;
    if (this.#engine.inFlight > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
    deadline.removeEventListener("abort", cutAll);
    return cut;
  }

  /** Called after each exchange: closes connections that are idle while draining. */
  settled(): void {
    if (!this.#engine.draining) return;
    setImmediate(() => this.#http1.closeIdleConnections());
    if (this.#engine.inFlight === 0) this.#emptied();
  }

  #connection(socket: Socket): void {
    const { clock, tally, limits, group } = this.#engine;
    const free = limits.connections - tally.open.client;
    if (free <= 0 || group.connections >= limits.share * free) {
      tally.refused(free <= 0 ? "total" : "share");
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    group.connections += 1;
    noteConnected(socket, clock.monotonic());
    tally.opened("client");
    socket.once("close", () => {
      this.#sockets.delete(socket);
      group.connections -= 1;
      tally.closed("client");
    });
    const { opaque, httpStart = "" } = this.#options;
    new Sniffer(this.#engine, socket, { opaque: opaque?.() ?? "none", httpStart }, (speaks) => {
      if (speaks === "opaque") new TcpExchange(this.#engine, socket).begin();
      else if (speaks === "tls") {
        if (this.#tls) this.#tls.accept(socket);
        else socket.destroy();
      } else if (this.#tls && this.#options.tls?.plaintext !== true) {
        refuseRaw(this.#engine, socket, 400, new BadRequest({ fault: "plain text where TLS is spoken" }));
      } else this.#serve(socket, speaks);
    });
  }

  #serve(socket: Socket, speaks: "http1" | "h2"): void {
    // An HTTP/2 session reads the returned bytes itself, and the connection from below.
    if (speaks === "h2") this.#serveHttp2(socket);
    else {
      this.#serveHttp1(socket);
      socket.resume();
    }
  }

  #serveHttp2(socket: Socket): void {
    // node:http ends half-open sockets itself. node:http2 leaves that to the socket, or it would not notice a client
    // that closes its connection with an unfinished stream.
    socket.allowHalfOpen = false;
    this.#http2.emit("connection", socket);
  }

  #request(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const shape = shapeOf(request);
    if (shape instanceof ShapeFault) {
      this.#engine.tally.malformed();
      response.shouldKeepAlive = false;
      const refusal = this.#engine.word(refusalOf(shape.status, shape.error), undefined);
      response.writeHead(refusal.status, refusalHeaders(refusal));
      response.end(refusal.body);
      return;
    }
    const exchange = new Http1Exchange(this.#engine, request, response, shape, expectsContinue);
    // The upgrade was not granted because the socket is in use. The parser has lost the data after it in the same
    // packet.
    if (upgradeToken(request) !== undefined) exchange.closeAfter();
    // A pipelined request waits until the previous response is complete.
    if (response.socket) exchange.begin();
    else waitInPipeline(request, exchange);
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const response = new ServerResponse(request);
    const shape = shapeOf(request);
    if (shape instanceof ShapeFault) {
      this.#engine.tally.malformed();
      refuseRaw(this.#engine, socket, shape.status, shape.error);
      return;
    }
    const start = new UpgradeStart(this.#engine, upgradeToken(request) ?? "", socket, head);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on("finish", () => socket.destroySoon());
    new Http1Exchange(this.#engine, request, response, shape, false, start).begin();
  }

  #clientError(error: Error & { code?: string }, socket: Duplex): void {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    this.#engine.tally.malformed();
    if (error.code === "HPE_HEADER_OVERFLOW") refuseRaw(this.#engine, socket, 431, new HeadTooLarge({}));
    else if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") refuseRaw(this.#engine, socket, 408, new HeadTooSlow({}));
    else refuseRaw(this.#engine, socket, 400, new BadRequest({ fault: error.message }));
  }

  #session(session: ServerHttp2Session): void {
    const { limits } = this.#engine;
    this.#sessions.add(session);
    let streams = 0;
    session.on("stream", (stream) => {
      streams += 1;
      stream.once("close", () => (streams -= 1));
    });
    session.on("close", () => this.#sessions.delete(session));
    session.on("error", () => undefined);
    session.setTimeout(limits.clientIdle, () => {
      if (streams === 0) session.close();
    });
    if (this.#engine.draining) session.close();
  }

  #stream(stream: ServerHttp2Stream, head: IncomingHttpHeaders, flags: number, raw: readonly string[]): void {
    const exchange = new Http2Exchange(this.#engine, stream, head, flags, raw);
    if (exchange.method === "CONNECT") exchange.refuseWith(501, new NotForwarded({ what: "CONNECT" }));
    else if (!isMethod(exchange.method)) exchange.refuseWith(501, new NotForwarded({ what: "an unknown method" }));
    else if (!isPath(exchange.path, exchange.method) || (exchange.host !== "" && !isHost(exchange.host))) {
      exchange.refuseWith(400, new BadRequest({ fault: "an unclear target" }));
    } else exchange.begin();
  }
}
