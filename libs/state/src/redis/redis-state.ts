import { type Clock, explain, type Logger, type Running } from "@evenkeel/runtime";
import { showAddress } from "../address.ts";
import { Availability } from "../availability.ts";
import { Keys } from "../keys.ts";
import type { StateMetrics } from "../metrics.ts";
import type { Fence, State } from "../state.ts";
import { Tails } from "../tail.ts";
import { Calls } from "./calls.ts";
import { type RedisAddress, RedisConnection } from "./connection.ts";
import { RedisCounters } from "./redis-counters.ts";
import { RedisEdges } from "./redis-edges.ts";
import { RedisRecords } from "./redis-records.ts";
import { RedisStreams } from "./redis-streams.ts";

export interface RedisStateOptions {
  readonly address: RedisAddress;
  readonly service: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: StateMetrics;
  /** How long one call may take, in milliseconds. */
  readonly deadline: number;
}

/** How often an idle connection is asked for a sign of life, in milliseconds. */
const PROBE_INTERVAL = 1000;

/** State in Redis 6.2 or later: one server, or a master that Sentinels watch. */
export class RedisState implements State {
  readonly name = "state";
  readonly records: RedisRecords;
  readonly counters: RedisCounters;
  readonly streams: RedisStreams;
  readonly edges: RedisEdges;
  readonly #options: RedisStateOptions;
  readonly #keys: Keys;
  readonly #availability: Availability;
  readonly #commands: RedisConnection;
  readonly #subscriptions: RedisConnection;
  #lastError: Error | undefined;
  #stopped = false;
  /** Redis is there and refuses writes, because it is full or may not write. */
  #refusing = false;
  #stopProbing: () => void = () => undefined;

  constructor(options: RedisStateOptions) {
    const { address, service, clock, random, log, metrics, deadline } = options;
    const keys = (this.#keys = new Keys(service));
    const calls = new Calls({
      connection: () => this.#commands,
      clock,
      metrics,
      deadline,
      onRefused: (error) => this.#refuse(error),
    });
    this.#options = options;
    this.#availability = new Availability(log, metrics);
    this.edges = new RedisEdges({ calls, keys, connection: () => this.#subscriptions, metrics, log });
    this.records = new RedisRecords(calls, keys);
    this.counters = new RedisCounters(calls, keys);
    this.streams = new RedisStreams(calls, keys, new Tails(this.edges, clock));
    const common = { address, deadline, random, onError: (error: Error) => this.#noteError(error) };
    this.#commands = new RedisConnection({
      ...common,
      name: `evenkeel-${service}`,
      onReady: () => this.#accept(),
      onLost: () => {
        if (!this.#stopped) this.#availability.set(false, this.#lastError);
      },
    });
    this.#subscriptions = new RedisConnection({
      ...common,
      name: `evenkeel-${service}-edges`,
      onReady: () => this.edges.resume(),
      onLost: () => undefined,
    });
    this.#subscriptions.client.on("message", (channel: string, text: string) => this.edges.receive(channel, text));
  }

  get available(): boolean {
    return this.#availability.now;
  }

  onAvailability(listener: (available: boolean) => void): () => void {
    return this.#availability.onChange(listener);
  }

  forget(object: string, fence: Fence | "unfenced"): Promise<void> {
    return this.records.forget(object, fence);
  }

  /** Resolves when Redis answers, or after the deadline without it: a service starts from memory too. */
  async start({ signal }: Running): Promise<void> {
    const { address, clock, log, deadline } = this.#options;
    const { promise: settled, resolve } = Promise.withResolvers<undefined>();
    const unlisten = this.onAvailability(() => resolve(undefined));
    const cancel = clock.schedule(deadline, () => resolve(undefined));
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    this.#commands.open();
    this.#subscriptions.open();
    this.#probeLater();
    await settled;
    unlisten();
    cancel();
    if (!this.available && !signal.aborted) {
      const why = this.#lastError ? explain(this.#lastError) : `no answer within ${deadline} ms`;
      log.warn(`${showAddress(address)} is unreachable (${why}); the service starts from memory and keeps retrying`);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#stopProbing();
    this.#commands.close();
    this.#subscriptions.close();
  }

  #probeLater(): void {
    this.#stopProbing = this.#options.clock.schedule(PROBE_INTERVAL, () => {
      if (this.#refusing) this.#probeWrite();
      else this.#commands.probe();
      this.#subscriptions.probe();
      this.#probeLater();
    });
  }

  #refuse(error: Error): void {
    this.#refusing = true;
    if (!this.#stopped) this.#availability.set(false, error);
  }

  #accept(): void {
    this.#refusing = false;
    this.#availability.set(true);
  }

  /** Only a write tells that writes are taken again. */
  #probeWrite(): void {
    const { client, isReady } = this.#commands;
    if (!isReady) return;
    client.set(this.#keys.probe(), "probe", "PX", PROBE_INTERVAL).then(
      () => this.#accept(),
      () => undefined,
    );
  }

  #noteError(error: Error): void {
    if (error.message !== this.#lastError?.message)
      this.#options.log.debug({ error }, "the connection to Redis failed");
    this.#lastError = error;
  }
}
