import type { Readable } from "node:stream";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { BadKubeconfig } from "../errors.ts";
import type { Access } from "./credentials.ts";
import type { Lane, Method } from "./request.ts";
import { type UpgradeAnswer, UpgradeHandler } from "./upgrade-handler.ts";

/** Milliseconds that opening a connection may take. */
const CONNECT_TIMEOUT = 10_000;

/**
 * Milliseconds that an idle connection is kept: less than API servers (90 s) and most load balancers (60 s) keep
 * theirs.
 */
const KEEP_ALIVE = 30_000;

/** Connections reserved for urgent calls. */
const URGENT_CONNECTIONS = 2;

/** Maximum concurrent streams. */
const STREAM_LIMIT = 1024;

export interface TransportRequest {
  readonly lane: Lane;
  readonly method: Method;
  /** With its query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Readable;
  readonly signal: AbortSignal;
  /** Called when the request starts to be written. Before that, the server cannot have seen it. */
  readonly onSending?: () => void;
}

type Pools = Readonly<Record<Lane, Dispatcher>>;

/**
 * A pool of connections to one API server. HTTP/1.1, because a watch over HTTP/2 leaks memory in Node
 * (https://github.com/defenseunicorns/pepr/blob/main/adr/0015-kfc-watch-undici.md), and because a pool limits what one
 * slow call can delay.
 */
export class Transport {
  readonly #connections: number;
  readonly #proxyFor: (server: URL) => string | undefined;
  readonly #retired = new Set<Dispatcher>();
  #pools: { readonly key: string; readonly pools: Pools } | undefined;

  constructor(connections: number, proxyFor: (server: URL) => string | undefined) {
    this.#connections = connections;
    this.#proxyFor = proxyFor;
  }

  /** Sends a request; resolves with the response when its headers have arrived. */
  send(access: Access, request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const { lane, onSending, ...rest } = request;
    return this.#pool(access, lane, onSending).request({
      ...rest,
      ...place(access, request),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Sends an upgrade request; resolves with the raw connection, or with the refusal. */
  upgrade(access: Access, request: TransportRequest, protocol: string): Promise<UpgradeAnswer> {
    const { headers, signal, method, onSending } = request;
    const target = { ...place(access, request), headers, method, upgrade: protocol, headersTimeout: 0, bodyTimeout: 0 };
    return new Promise((resolve, reject) => {
      this.#pool(access, "streams").dispatch(target, new UpgradeHandler(signal, onSending, resolve, reject));
    });
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    const all = [...this.#retired, ...Object.values(this.#pools?.pools ?? {})];
    this.#pools = undefined;
    await Promise.all(all.map((pool) => pool.destroy()));
  }

  #pool(access: Access, lane: Lane, onSending?: () => void): Dispatcher {
    if (this.#pools?.key !== access.connectionKey) {
      for (const pool of Object.values(this.#pools?.pools ?? {})) this.#retire(pool);
      this.#pools = { key: access.connectionKey, pools: this.#create(access) };
    }
    const pool = this.#pools.pools[lane];
    return onSending === undefined ? pool : pool.compose(announce(onSending));
  }

  /** Requests in progress on outdated connections may finish: they were authenticated and stay valid. */
  #retire(pool: Dispatcher): void {
    this.#retired.add(pool);
    void pool.close().finally(() => this.#retired.delete(pool));
  }

  #create(access: Access): Pools {
    const uri = access.proxy ?? this.#proxyFor(access.server);
    const { servername, ...rest } = access.tls;
    const tls = { ...rest, ...(servername === undefined ? {} : { servername }), timeout: CONNECT_TIMEOUT };
    const pool = (connections: number): Dispatcher => {
      const options = {
        ...{ connections, pipelining: 1, allowH2: false },
        ...{ keepAliveTimeout: KEEP_ALIVE, keepAliveMaxTimeout: KEEP_ALIVE },
        connect: { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000 },
      };
      if (uri === undefined) return new Agent(options);
      return new ProxyAgent({
        ...options,
        uri: checkedProxy(uri),
        requestTls: tls,
        connect: { timeout: CONNECT_TIMEOUT },
      });
    };
    return { calls: pool(this.#connections), urgent: pool(URGENT_CONNECTIONS), streams: pool(STREAM_LIMIT) };
  }
}

/** A kubeconfig's server may have a path, for example that of a proxy for many clusters. */
function place({ server }: Access, { path }: TransportRequest): { origin: string; path: string } {
  return { origin: server.origin, path: server.pathname.replace(/\/$/, "") + path };
}

function checkedProxy(uri: string): string {
  const url = URL.parse(uri);
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return uri;
  const shown = uri.replace(/\/\/[^@/]*@/, "//");
  throw new BadKubeconfig({ file: "proxy-url or HTTPS_PROXY", fault: `${shown} is not an http:// or https:// URL` });
}

function announce(onSending: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        onSending();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
}
