import type { Clock, Logger } from "@evenkeel/runtime";
import { IN_MEMORY } from "../address.ts";
import { Availability } from "../availability.ts";
import type { StateMetrics } from "../metrics.ts";
import type { Fence, State } from "../state.ts";
import { Tails } from "../tail.ts";
import { Calls } from "./calls.ts";
import { openDatabase } from "./database.ts";
import { EmbeddedCounters } from "./embedded-counters.ts";
import { EmbeddedEdges } from "./embedded-edges.ts";
import { SqliteRecords } from "./sqlite-records.ts";
import { SqliteStreams } from "./sqlite-streams.ts";

export interface SqliteStateOptions {
  /** `:memory:` keeps nothing beyond the process. */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: StateMetrics;
}

/** State for a service with one replica. Calls are local and synchronous; what is acknowledged is on disk. */
export class SqliteState implements State {
  readonly name = "state";
  readonly records: SqliteRecords;
  readonly counters: EmbeddedCounters;
  readonly streams: SqliteStreams;
  readonly edges: EmbeddedEdges;
  readonly #options: SqliteStateOptions;
  readonly #availability: Availability;
  readonly #calls: Calls;

  constructor(options: SqliteStateOptions) {
    const { clock, log, metrics } = options;
    this.#options = options;
    this.#availability = new Availability(log, metrics);
    this.#calls = new Calls(metrics, this.#availability);
    this.records = new SqliteRecords(this.#calls, clock);
    this.counters = new EmbeddedCounters(clock, metrics);
    this.edges = new EmbeddedEdges(log, metrics);
    this.streams = new SqliteStreams(this.#calls, this.edges, new Tails(this.edges, clock));
  }

  get available(): boolean {
    return this.#availability.now;
  }

  onAvailability(listener: (available: boolean) => void): () => void {
    return this.#availability.onChange(listener);
  }

  async forget(object: string, fence: Fence | "unfenced"): Promise<void> {
    await this.records.forget(object, fence);
    this.counters.forget(object);
  }

  async start(): Promise<void> {
    const { file, log } = this.#options;
    this.#calls.open(await openDatabase(file));
    this.#availability.set(true);
    if (file === IN_MEMORY) log.info("state is in memory only: a restart loses it");
  }

  stop(): void {
    this.#calls.close();
  }
}
