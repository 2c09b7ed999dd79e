import type { Clock, Logger } from "@evenkeel/runtime";
import type { ReadTerms, TargetState, WriteTerms } from "../weight-target.ts";
import { ChangeFollower } from "./change-follower.ts";
import { recordKey, type RecordId, recordState } from "./weighted-record.ts";
import type { ZoneApi } from "./zone-api.ts";
import { ZoneRecords } from "./zone-records.ts";
import { ZoneWriter } from "./zone-writer.ts";

export interface ZoneOptions {
  readonly api: ZoneApi;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Milliseconds for which writes are gathered. */
  readonly window: number;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

/** One hosted zone as one identity sees it: what all its targets share. */
export class Zone {
  readonly #records: ZoneRecords;
  readonly #follower: ChangeFollower;
  readonly #writer: ZoneWriter;

  constructor(options: ZoneOptions) {
    this.#records = new ZoneRecords(options);
    this.#follower = new ChangeFollower(options);
    this.#writer = new ZoneWriter({ ...options, records: this.#records, follower: this.#follower });
  }

  /** Whether it could be dropped without losing anything but a cache. */
  get isIdle(): boolean {
    return this.#writer.isIdle && this.#follower.isIdle;
  }

  async read(id: RecordId, { maxAge, signal }: ReadTerms): Promise<TargetState> {
    const sameName = await this.#records.read(id.name, maxAge, signal);
    return recordState(id, sameName, this.#follower.isPending(recordKey(id)));
  }

  write(id: RecordId, weight: number, terms: WriteTerms): Promise<void> {
    return this.#writer.write(id, weight, terms);
  }
}
