/** The requests of this test that are under way, by their Service. */
export class UnderWay {
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  async during<T>(name: string, asked: () => Promise<T>): Promise<T> {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    try {
      return await asked();
    } finally {
      const left = (this.#counts.get(name) ?? 0) - 1;
      this.#counts.set(name, left);
      if (left === 0) for (const then of this.#waiting.get(name)?.splice(0) ?? []) then();
    }
  }

  /** Calls `then` in a moment when none is. */
  whenNone(name: string, then: () => void): void {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.set(name, waiting);
    if ((this.#counts.get(name) ?? 0) === 0) then();
    else waiting.push(then);
  }
}
