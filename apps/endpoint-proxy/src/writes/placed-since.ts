/** CPU in millicores, memory in bytes, and a number of pods. */
interface Amount {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

interface Entry extends Amount {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * What was placed after a member's score was taken, and so is not in the score yet. Without it, several creates within
 * one scoring interval would all be placed in the same room.
 */
export class PlacedSince {
  readonly #entries = new Map<string, readonly Entry[]>();

  note(member: string, at: number, replicas: number, each: Omit<Amount, "pods">): void {
    if (replicas <= 0) return;
    const entry = {
      at,
      cpu: each.cpu * replicas,
      memory: each.memory * replicas,
      pods: replicas,
    };
    this.#entries.set(member, [...(this.#entries.get(member) ?? []), entry]);
  }

  /** What is not in a score that was taken at `scoredAt`. Older entries are forgotten. */
  since(member: string, scoredAt: number): Amount {
    const later = (this.#entries.get(member) ?? []).filter(({ at }) => at > scoredAt);
    if (later.length === 0) this.#entries.delete(member);
    else this.#entries.set(member, later);
    const total = (amount: keyof Amount): number => later.reduce((sum, entry) => sum + entry[amount], 0);
    return { cpu: total("cpu"), memory: total("memory"), pods: total("pods") };
  }
}
