import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger, type Logger, systemClock } from "@evenkeel/runtime";
import type { TsProtoServiceDefinition } from "nice-grpc";
import type { Permission } from "../auth/bearer.ts";
import { connectPeer, type Peer, type PeerOptions } from "../client/peer.ts";
import {
  ResolverDefinition,
  type ResolverServiceImplementation,
  type Service,
  State,
  type WatchResponse,
} from "../generated/evenkeel/resolver/v1/resolver.ts";
import { peerMetrics } from "../metrics.ts";
import { RpcServer, type RpcServerOptions } from "../server/rpc-server.ts";
import type { Served } from "../server/served.ts";

/** A logger that remembers its lines. */
export function rememberedLog(): { readonly log: Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { log: createLogger({ service: "sample", level: "info", secrets: [], destination }), lines };
}

/** A server on a free loopback port, until the test's end. */
export async function startServer(
  services: readonly Served<never>[],
  options: Partial<RpcServerOptions> = {},
): Promise<Running> {
  const registry = new MetricRegistry();
  const { log, lines } = rememberedLog();
  const limits = { message: 64 * 1024, calls: 100, streams: 100, ...options.limits };
  const server = new RpcServer({
    host: "127.0.0.1",
    port: 0,
    transport: "insecure",
    clock: systemClock,
    log,
    registry,
    ...options,
    limits,
  });
  for (const service of services) server.add(service);
  const stopping = new AbortController();
  await server.start({ signal: stopping.signal, fail: () => undefined });
  const stop = () => server.stop(AbortSignal.timeout(0));
  return { server, registry, lines, stopping, address: `127.0.0.1:${server.port}`, stop, [Symbol.asyncDispose]: stop };
}

export interface Running extends AsyncDisposable {
  readonly server: RpcServer;
  readonly registry: MetricRegistry;
  readonly lines: readonly Record<string, unknown>[];
  /** Aborted, it tells the server that the process begins to stop. */
  readonly stopping: AbortController;
  readonly address: string;
  stop(): Promise<void>;
}

/** A started peer, until the test's end. */
export function startPeer(
  address: string,
  options: Partial<PeerOptions> = {},
): {
  readonly peer: Peer;
  readonly lines: readonly Record<string, unknown>[];
  readonly registry: MetricRegistry;
} & Disposable {
  const registry = new MetricRegistry();
  const { log, lines } = rememberedLog();
  const metrics = registry.register(peerMetrics);
  const peer = connectPeer({
    name: "sample",
    address,
    transport: "insecure",
    clock: systemClock,
    log,
    metrics,
    ...options,
  });
  peer.start();
  return { peer, lines, registry, [Symbol.dispose]: () => peer.stop() };
}

/**
 * A Resolver whose methods a test plays; those that it does not play answer with the empty message, and streams never
 * end.
 */
export function resolver(played: Partial<ResolverServiceImplementation> = {}): Served<ResolverDefinition> {
  return {
    definition: ResolverDefinition,
    implementation: {
      activity: () => Promise.resolve({}),
      watch: () => endless(),
      wake: () => Promise.resolve({ woken: true, state: State.STATE_WAKE }),
      preview: () => Promise.resolve({}),
      history: () => Promise.resolve({}),
      pause: () => Promise.resolve({}),
      resume: () => Promise.resolve({}),
      ...played,
    },
    access: { wake: may("wake"), pause: may("patch"), resume: may("patch") },
  };
}

function may(verb: string) {
  return ({ service }: { service?: Service | undefined }): Permission => ({
    verb,
    object: {
      group: "elasti.truefoundry.com",
      resource: "elastiservices",
      namespace: service?.namespace ?? "",
      name: service?.name ?? "",
    },
  });
}

/** One item, and then silence that no signal ends. */
export async function* endless(): AsyncGenerator<Pick<WatchResponse, "event">> {
  yield { event: { $case: "removed", value: { namespace: "shop", name: "checkout" } } };
  await new Promise<never>(() => undefined);
}

/** Shows `see` each item until the stream ends. */
export async function read<T>(stream: AsyncIterable<T>, see: (item: T) => void): Promise<void> {
  for await (const item of stream) see(item);
}

/** Marks a service of any definition as one of a list of services. */
export function any<D extends TsProtoServiceDefinition>(served: Served<D>): Served<never> {
  return served as unknown as Served<never>;
}
