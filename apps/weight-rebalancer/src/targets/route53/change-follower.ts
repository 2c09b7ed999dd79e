import type { ChangeInfo } from "@aws-sdk/client-route-53";
import { type Clock, isRetryable, type Logger, sleep } from "@evenkeel/runtime";
import type { ZoneApi } from "./zone-api.ts";

export interface ChangeFollowerOptions {
  readonly api: Pick<ZoneApi, "isInSync" | "zone">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Milliseconds until the first check of a change. Each wait is twice the previous one, up to the longest. */
const FIRST_WAIT = 5_000;
const LONGEST_WAIT = 30_000;

/** Milliseconds after which a change counts as done, whatever Route 53 says. */
const GIVE_UP_AFTER = 600_000;

/** Follows accepted changes until they are in effect on all of Route 53's servers. */
export class ChangeFollower {
  readonly #options: ChangeFollowerOptions;
  /** The last change of each record that is not in effect yet. */
  readonly #pending = new Map<string, string>();

  constructor(options: ChangeFollowerOptions) {
    this.#options = options;
  }

  isPending(record: string): boolean {
    return this.#pending.has(record);
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** `records` are the keys of those that the change is about. */
  follow({ Id = "", Status }: Partial<ChangeInfo>, records: readonly string[]): void {
    for (const record of records) this.#pending.set(record, Id);
    void this.#untilInSync(Id, Status === "INSYNC").finally(() => {
      for (const record of records) if (this.#pending.get(record) === Id) this.#pending.delete(record);
    });
  }

  /** Never rejects. */
  async #untilInSync(change: string, inSync: boolean): Promise<void> {
    const { api, clock, log, signal } = this.#options;
    const about = { zone: api.zone, change };
    const end = clock.monotonic() + GIVE_UP_AFTER;
    try {
      for (let wait = FIRST_WAIT; !inSync; wait = Math.min(wait * 2, LONGEST_WAIT)) {
        await sleep(clock, wait, signal);
        inSync = await this.#look(change);
        if (!inSync && clock.monotonic() >= end) {
          log.warn(about, "a change is not in effect everywhere after ten minutes; it is no longer followed");
          return;
        }
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ ...about, error }, "following a change failed");
    }
  }

  async #look(change: string): Promise<boolean> {
    try {
      return await this.#options.api.isInSync(change);
    } catch (error) {
      if (isRetryable(error)) return false;
      throw error;
    }
  }
}
