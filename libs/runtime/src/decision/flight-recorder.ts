export interface RecorderLimits {
  readonly count: number;
  readonly bytes: number;
}

/** Keeps the texts of the last snapshots, each under the id of the decision it led to. The oldest go first. */
export class FlightRecorder {
  readonly #limits: RecorderLimits;
  /**
   * Encoded: a string's size in memory depends on what is in it, and it may hold on to the larger one it was cut from.
   */
  readonly #texts = new Map<string, Buffer>();
  #bytes = 0;

  constructor(limits: RecorderLimits) {
    this.#limits = limits;
  }

  keep(id: string, text: string): void {
    this.#remove(id);
    const encoded = Buffer.from(text);
    if (encoded.length > this.#limits.bytes || this.#limits.count === 0) return;
    this.#texts.set(id, encoded);
    this.#bytes += encoded.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= this.#limits.count && this.#bytes <= this.#limits.bytes) break;
      this.#remove(oldest);
    }
  }

  get(id: string): string | undefined {
    return this.#texts.get(id)?.toString();
  }

  #remove(id: string): void {
    this.#bytes -= this.#texts.get(id)?.length ?? 0;
    this.#texts.delete(id);
  }
}
