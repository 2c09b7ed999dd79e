import type { Clock } from "@evenkeel/runtime";
import type { Lease } from "../objects/resource-types.ts";

/**
 * Decides whether a lease is free by when this process saw it change, on its own monotonic clock. The times in a lease
 * come from other hosts' wall clocks and are not used.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #identity: string;
  /** Milliseconds for a lease that does not state its duration. */
  readonly #duration: number;
  #seen: { readonly spec: string; readonly at: number; readonly lasts: number } | undefined;

  constructor(clock: Clock, identity: string, duration: number) {
    this.#clock = clock;
    this.#identity = identity;
    this.#duration = duration;
  }

  /**
   * Notes the present lease, undefined if there is none. Returns whether this process may take it:
   * - it names no holder, or this process, whose identity is unique;
   * - its holder has not renewed it for its whole duration;
   * - there is no lease, and there has been none for a whole duration or since this process started. A lease that was
   *   deleted is not free at once, because its leader may not have noticed yet.
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
