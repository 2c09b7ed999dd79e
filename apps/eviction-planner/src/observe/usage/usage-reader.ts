import { type Clock, explain } from "@evenkeel/runtime";
import { NO_USAGE, type Usage, type UsageSource } from "./usage.ts";

/** Usage as far as it could be read. */
export interface UsageReading {
  readonly usage: Usage;
  /** Why there is none; null if it was read. */
  readonly fault: string | null;
}

export interface UsageReaderOptions {
  readonly source: UsageSource;
  readonly clock: Clock;
  /** Milliseconds for which a reading is used again, so that policies do not each read the whole cluster. */
  readonly fresh: number;
}

/** Reads usage for all policies. A source that fails gives no usage, which freezes the nodes, and says why. */
export class UsageReader {
  readonly #options: UsageReaderOptions;
  #last: { readonly at: number; readonly reading: Promise<UsageReading> } | undefined;

  constructor(options: UsageReaderOptions) {
    this.#options = options;
  }

  read(): Promise<UsageReading> {
    const { clock, fresh } = this.#options;
    const now = clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= fresh) this.#last = { at: now, reading: this.#read() };
    return this.#last.reading;
  }

  /**
   * Several reconciles wait for one reading, so none of their signals ends it: the source has a deadline of its own.
   */
  async #read(): Promise<UsageReading> {
    try {
      return { usage: await this.#options.source.read(new AbortController().signal), fault: null };
    } catch (error) {
      return { usage: NO_USAGE, fault: explain(error) };
    }
  }
}
