import { isIP } from "node:net";
import { type Channel, connectivityState } from "@grpc/grpc-js";
import type { Clock, Component, Logger } from "@evenkeel/runtime";
import { type Client, createChannel, createClientFactory, type TsProtoServiceDefinition } from "nice-grpc";
import { deadlineMiddleware, type DeadlineOptions } from "nice-grpc-client-middleware-deadline";
import { retryMiddleware, type RetryOptions } from "nice-grpc-client-middleware-retry";
import { Status } from "nice-grpc-common";
import { BadPeerAddress } from "../errors.ts";
import type { PeerMetrics } from "../metrics.ts";
import { channelCredentials, type Transport } from "../tls/credentials.ts";
import { codedErrors, defaultDeadline, withToken } from "./middleware.ts";

export interface PeerOptions {
  /** What the peer is called in log, metric and errors. */
  readonly name: string;
  /** `host:port` or `dns:///host:port`. The addresses of the name are used in round robin. */
  readonly address: string;
  readonly transport: Transport;
  /** The name that the peer's certificate must have, where it is not the address's. */
  readonly serverName?: string;
  /** Milliseconds that a call with one answer may take, unless it says otherwise. */
  readonly deadline?: number;
  /** Milliseconds after which a stream ends, unless it says otherwise; the watcher opens the next one. */
  readonly streamDeadline?: number;
  /** The largest message that is taken from the peer, in bytes. */
  readonly maxMessage?: number;
  /** A bearer token for calls that change something. */
  readonly token?: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: PeerMetrics;
}

/** Options that a call may give for itself. */
export type PeerCallOptions = DeadlineOptions & RetryOptions;

const RETRY: RetryOptions = {
  retryableStatuses: [Status.UNAVAILABLE],
  retryMaxAttempts: 2,
  retryBaseDelayMs: 100,
  retryMaxDelayMs: 1000,
};

/** Connects to an optional peer: nothing waits for it, and its absence is a log line and a gauge. */
export function connectPeer(options: PeerOptions): Peer {
  return new Peer(options);
}

/**
 * A connection to another service that comes back by itself. Calls have a deadline, fail at once while the peer is
 * away, and are retried on UNAVAILABLE where the proto says that repeating does no harm.
 */
export class Peer implements Component {
  readonly name: string;
  readonly #options: PeerOptions;
  readonly #channelOptions: Record<string, string | number>;
  #channel: Channel | undefined;
  #up: boolean | undefined;

  constructor(options: PeerOptions) {
    this.name = `peer ${options.name}`;
    this.#options = options;
    this.#channelOptions = {
      "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
      // A connection of its own, because shared ones may be in any state.
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_receive_message_length": options.maxMessage ?? 4 * 1024 * 1024,
      "grpc.keepalive_time_ms": 30_000,
      "grpc.keepalive_timeout_ms": 10_000,
      "grpc.keepalive_permit_without_calls": 1,
      "grpc.initial_reconnect_backoff_ms": 500,
      "grpc.max_reconnect_backoff_ms": 10_000,
      // The time that one attempt to connect may take; grpc-js itself has none (nice-grpc reads it).
      "grpc.min_reconnect_backoff_ms": 5000,
      ...(options.serverName !== undefined && { "grpc.ssl_target_name_override": options.serverName }),
    };
    targetOf(options.address);
  }

  /** Whether there is a connection now. */
  get up(): boolean {
    return this.#up === true;
  }

  start(): void {
    const channel = this.#open();
    this.#watch(channel);
  }

  stop(): void {
    this.#channel?.close();
  }

  /** A client of one of the peer's services. Its calls reject with coded errors, or with the abort of their signal. */
  client<D extends TsProtoServiceDefinition>(definition: D): Client<D, PeerCallOptions> {
    const { name, deadline = 5000, streamDeadline = 3_600_000, token } = this.#options;
    // The first is the innermost.
    return createClientFactory()
      .use(withToken(token))
      .use(retryMiddleware)
      .use(deadlineMiddleware)
      .use(defaultDeadline(deadline, streamDeadline))
      .use(codedErrors(name))
      .create(definition, this.#open(), { "*": RETRY });
  }

  #open(): Channel {
    const { address, transport } = this.#options;
    this.#channel ??= createChannel(targetOf(address), channelCredentials(transport), this.#channelOptions);
    return this.#channel;
  }

  /** Follows the connection for as long as the channel is open, asking for a new one whenever it went. */
  #watch(channel: Channel): void {
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.SHUTDOWN) return;
    if (state === connectivityState.READY) this.#see(true);
    if (state === connectivityState.TRANSIENT_FAILURE) this.#see(false);
    channel.watchConnectivityState(state, Infinity, () => this.#watch(channel));
  }

  #see(up: boolean): void {
    const { name, address, log, metrics } = this.#options;
    if (up === this.#up) return;
    this.#up = up;
    metrics.up.set({ peer: name }, up ? 1 : 0);
    if (up) log.info({ peer: name, address }, `${name} is connected`);
    else log.warn({ peer: name, address }, `${name} is unreachable; the service continues without it`);
  }
}

function targetOf(address: string): string {
  const [, host, port] = /^(?:dns:\/\/\/)?(\[[\da-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || port === undefined || Number(port) > 65_535 || isIP(host) === 6)
    throw new BadPeerAddress({ address });
  return `dns:///${host}:${port}`;
}
