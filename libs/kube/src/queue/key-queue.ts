/**
 * Distinct keys in the order in which they were added. A plain Set is too slow: taking its first element walks over all
 * elements that were taken before, so emptying a long queue is quadratic.
 */
export class KeyQueue {
  /** Positions of the keys, counted from the first key ever added. */
  readonly #positions = new Map<string, number>();
  /** `undefined` where a key was removed. */
  #keys: (string | undefined)[] = [];
  #head = 0;
  #dropped = 0;

  get size(): number {
    return this.#positions.size;
  }

  has(key: string): boolean {
    return this.#positions.has(key);
  }

  add(key: string): void {
    if (this.#positions.has(key)) return;
    this.#positions.set(key, this.#dropped + this.#keys.length);
    this.#keys.push(key);
  }

  delete(key: string): boolean {
    const position = this.#positions.get(key);
    if (position === undefined) return false;
    this.#positions.delete(key);
    this.#keys[position - this.#dropped] = undefined;
    return true;
  }

  /** Takes the first key. */
  shift(): string | undefined {
    while (this.#head < this.#keys.length) {
      const key = this.#keys[this.#head++];
      if (key === undefined) continue;
      this.#positions.delete(key);
      this.#trim();
      return key;
    }
    this.#trim();
    return undefined;
  }

  /** Drops the part that was taken once it is the larger one, so that each key is moved about once. */
  #trim(): void {
    if (this.#head * 2 < this.#keys.length || this.#head === 0) return;
    this.#keys = this.#keys.slice(this.#head);
    this.#dropped += this.#head;
    this.#head = 0;
  }
}
