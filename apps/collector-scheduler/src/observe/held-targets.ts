import type { Target, TargetChanges } from "./target.ts";

/**
 * Targets by identity. Several discovered targets may give the same one: it stays until the last of them has released
 * it.
 */
export class HeldTargets {
  readonly #targets = new Map<string, Target>();
  /** Of targets that are held more than once, how often besides the first. */
  readonly #others = new Map<string, number>();
  /** Of each target that was touched since the changes were last taken, what it was then. */
  readonly #touched = new Map<string, Target | undefined>();

  get targets(): ReadonlyMap<string, Target> {
    return this.#targets;
  }

  hold(target: Target): void {
    const { identity } = target;
    const held = this.#targets.get(identity);
    this.#touch(identity, held);
    if (held) this.#others.set(identity, (this.#others.get(identity) ?? 0) + 1);
    this.#targets.set(identity, target);
  }

  release({ identity }: Target): void {
    const others = this.#others.get(identity) ?? 0;
    if (others > 1) this.#others.set(identity, others - 1);
    else if (others === 1) this.#others.delete(identity);
    else {
      this.#touch(identity, this.#targets.get(identity));
      this.#targets.delete(identity);
    }
  }

  /** What changed since the last call. */
  takeChanges(): TargetChanges {
    const added: Target[] = [];
    const removed: Target[] = [];
    for (const [identity, before] of this.#touched) {
      const after = this.#targets.get(identity);
      if (before && after && isSame(before, after)) continue;
      if (before) removed.push(before);
      if (after) added.push(after);
    }
    this.#touched.clear();
    return { added, removed };
  }

  #touch(identity: string, before: Target | undefined): void {
    if (!this.#touched.has(identity)) this.#touched.set(identity, before);
  }
}

/** Of two targets with the same identity, whether nothing else differs. */
function isSame(one: Target, other: Target): boolean {
  return one.zone === other.zone && one.node === other.node && one.expectedSeries === other.expectedSeries;
}
