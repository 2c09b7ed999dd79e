import type { Assignments } from "../decide/assignments.ts";

export interface EarlierOwner {
  readonly name: string;
  /** When it lost the target, in milliseconds. */
  readonly until: number;
}

/** Targets with a history at most; those that moved longest ago are forgotten first. */
const MOST_TARGETS = 10_000;
/** Owners of one target at most. */
const MOST_OWNERS = 5;

/** Earlier owners of targets, as far as the records since the start of this process show them. */
export class OwnerHistory {
  /** By the key of the target, the last owner first. */
  readonly #earlier = new Map<string, readonly EarlierOwner[]>();

  /** Takes the assignments that follow `before`. */
  note(before: Assignments | undefined, after: Assignments): void {
    for (const [key, { owner, from, since }] of after.exceptions) {
      const was = before?.exceptions.get(key);
      if (was?.since === since) continue;
      const former = from ?? was?.owner;
      if (former !== undefined && former !== owner) this.#add(key, { name: former, until: since });
    }
  }

  /** The last one first. */
  of(key: string): readonly EarlierOwner[] {
    return this.#earlier.get(key) ?? [];
  }

  #add(key: string, owner: EarlierOwner): void {
    const known = this.of(key);
    this.#earlier.delete(key);
    this.#earlier.set(key, [owner, ...known].slice(0, MOST_OWNERS));
    if (this.#earlier.size <= MOST_TARGETS) return;
    const [oldest] = this.#earlier.keys();
    if (oldest !== undefined) this.#earlier.delete(oldest);
  }
}
