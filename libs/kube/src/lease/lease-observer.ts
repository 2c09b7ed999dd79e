import type { Clock } from "@evenkeel/runtime";
import type { Lease } from "../objects/resource-types.ts";

/**
 * Judges whether a lease is free by when this process saw it change, on its own monotonic clock. The times that a lease
 * carries come from other hosts' wall clocks and are not read.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #identity: string;
  /** Milliseconds that count where a lease does not say how long it lasts. */
  readonly #duration: number;
  #seen: { readonly spec: string; readonly at: number; readonly lasts: number } | undefined;

  constructor(clock: Clock, identity: string, duration: number) {
    this.#clock = clock;
    this.#identity = identity;
    this.#duration = duration;
  }

  /**
   * Takes in what the API server has now, nothing if there is no lease. Returns whether this process may take it:
   * - it names no holder, or this process, whose name no other has;
   * - its holder has not renewed it for as long as it says it lasts;
   * - there is none, and there has been none for a whole duration or as long as this process knows. A lease that was
   *   deleted under its leader is not free at once: that leader may not have noticed yet.
   */
  observe(lease: Lease | undefined): boolean {
    const now = this.#clock.monotonic();
    const spec = JSON.stringify(lease?.spec ?? null);
    if (this.#seen === undefined && lease === undefined) return true;
    if (this.#seen?.spec !== spec) this.#seen = { spec, at: now, lasts: this.#lasts(lease) };
    const holder = lease?.spec?.holderIdentity;
    if (lease !== undefined && (holder === undefined || holder === "" || holder === this.#identity)) return true;
    return now - this.#seen.at >= this.#seen.lasts;
  }

  #lasts(lease: Lease | undefined): number {
    const seconds = lease?.spec?.leaseDurationSeconds;
    return seconds === undefined || seconds <= 0 ? this.#duration : seconds * 1000;
  }
}
