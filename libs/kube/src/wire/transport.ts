import type { Readable } from "node:stream";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { BadKubeconfig } from "../errors.ts";
import type { Access } from "./credentials.ts";
import type { Lane, Method } from "./request.ts";
import { type UpgradeAnswer, UpgradeHandler } from "./upgrade-handler.ts";

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** How long an idle connection is kept, in milliseconds: shorter than API servers (90 s) and most load balancers (60 s) keep theirs. */
const KEEP_ALIVE = 30_000;

/** Connections of their own that urgent calls have. */
const URGENT_CONNECTIONS = 2;

/** The most streams at once. */
const STREAM_LIMIT = 1024;

export interface TransportRequest {
  readonly lane: Lane;
  readonly method: Method;
  /** With its query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Readable;
  readonly signal: AbortSignal;
  /** Called when the request begins to be written to a connection: before that, the server cannot have seen it. */
  readonly onSending?: () => void;
}

type Pools = Readonly<Record<Lane, Dispatcher>>;

/**
 * Connections to one API server, kept and shared. HTTP/1.1: a watch over HTTP/2 leaks memory in Node
 * (https://github.com/defenseunicorns/pepr/blob/main/adr/0015-kfc-watch-undici.md), and a pool bounds what one slow call delays.
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

  /** Sends a request; resolves when the answer's headers are there. */
  send(access: Access, request: TransportRequest): Promise<Dispatcher.ResponseData> {
    const { lane, onSending, ...rest } = request;
    return this.#pool(access, lane, onSending).request({
      ...rest,
      ...place(access, request),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Sends a request that asks for another protocol; resolves with the bare connection, or with the refusal. */
  upgrade(access: Access, request: TransportRequest, protocol: string): Promise<UpgradeAnswer> {
    const { headers, signal, method, onSending } = request;
    const target = { ...place(access, request), headers, method, upgrade: protocol, headersTimeout: 0, bodyTimeout: 0 };
    return new Promise((resolve, reject) => {
      this.#pool(access, "streams").dispatch(target, new UpgradeHandler(signal, onSending, resolve, reject));
    });
  }

  /** Cuts every connection. */
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

  /** Lets what is under way on outdated connections end by itself: it was let in and stays valid. */
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

/** A kubeconfig's server may have a path of its own, as that of a proxy for many clusters does. */
function place({ server }: Access, { path }: TransportRequest): { origin: string; path: string } {
  return { origin: server.origin, path: server.pathname.replace(/\/$/, "") + path };
}

function checkedProxy(uri: string): string {
  const url = URL.parse(uri);
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return uri;
  const shown = uri.replace(/\/\/[^@/]*@/, "//");
  throw new BadKubeconfig({ file: "proxy-url or HTTPS_PROXY", fault: `${shown} is no http:// or https:// URL` });
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
