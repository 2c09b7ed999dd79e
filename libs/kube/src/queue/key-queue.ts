/**
 * Distinct keys in the order of their adding. A plain Set would do, but taking its first element walks over all that
 * were taken before, which makes emptying a long queue quadratic.
 */
export class KeyQueue {
  /** Places of the keys in `#line`, counted from the first key ever added. */
  readonly #places = new Map<string, number>();
  /** `undefined` stands where a key was removed. */
  #line: (string | undefined)[] = [];
  #head = 0;
  #dropped = 0;

  get size(): number {
    return this.#places.size;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  add(key: string): void {
    if (this.#places.has(key)) return;
    this.#places.set(key, this.#dropped + this.#line.length);
    this.#line.push(key);
  }

  delete(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#line[place - this.#dropped] = undefined;
    return true;
  }

  /** Takes the first key. */
  shift(): string | undefined {
    while (this.#head < this.#line.length) {
      const key = this.#line[this.#head++];
      if (key === undefined) continue;
      this.#places.delete(key);
      this.#trim();
      return key;
    }
    this.#trim();
    return undefined;
  }

  /** Lets go of the part that was taken once it is the larger one, so that each key is moved about once. */
  #trim(): void {
    if (this.#head * 2 < this.#line.length || this.#head === 0) return;
    this.#line = this.#line.slice(this.#head);
    this.#dropped += this.#head;
    this.#head = 0;
  }
}
