import type { Clock } from "@evenkeel/runtime";
import type { PlanMemory } from "../decide/snapshot.ts";

export interface RefusalsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Milliseconds for which a pod is left alone after its first refusal. Each further one doubles it. */
  readonly first: number;
}

/** Milliseconds for which a pod is left alone at most, and after which a refusal is forgotten. */
const LONGEST = 3_600_000;

/**
 * Pods whose eviction somebody refused. Each is left alone for a while, so that its node and its plan do not wait for
 * it.
 */
export class Refusals {
  readonly #options: RefusalsOptions;
  /** By uid. `until` is monotonic. */
  readonly #refused = new Map<string, { readonly by: string; readonly until: number; readonly lasts: number }>();

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** `by` is the code of what refused it. */
  add(uid: string, by: string): void {
    const { clock, first } = this.#options;
    const before = this.#refused.get(uid);
    const lasts = Math.min(before === undefined ? first : 2 * before.lasts, LONGEST);
    this.#refused.set(uid, { by, lasts, until: clock.monotonic() + lasts });
  }

  /** Pods that are left alone now. */
  current(): NonNullable<PlanMemory["refused"]> {
    const now = this.#options.clock.monotonic();
    for (const [uid, { until }] of this.#refused) if (now - until >= LONGEST) this.#refused.delete(uid);
    return [...this.#refused].flatMap(([pod, { by, until }]) => (until > now ? [{ pod, by }] : []));
  }

  forget(): void {
    this.#refused.clear();
  }
}
