/** Without a request for this long, a service counts as quiet. In milliseconds. */
const QUIET = 100;

/** The requests of this test that are in flight, by their Service. */
export class InFlight {
  readonly #counts = new Map<string, number>();
  readonly #lastEnd = new Map<string, number>();

  async during<T>(name: string, ask: () => Promise<T>): Promise<T> {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    try {
      return await ask();
    } finally {
      this.#counts.set(name, (this.#counts.get(name) ?? 0) - 1);
      this.#lastEnd.set(name, performance.now());
    }
  }

  /** Resolves in a moment when none is, and none was for a while. */
  async quiet(name: string): Promise<void> {
    while (!this.#isQuiet(name)) await new Promise((resolve) => setTimeout(resolve, QUIET / 4));
  }

  #isQuiet(name: string): boolean {
    const sinceLast = performance.now() - (this.#lastEnd.get(name) ?? -Infinity);
    return (this.#counts.get(name) ?? 0) === 0 && sinceLast >= QUIET;
  }
}
