interface Entry {
  readonly key: string;
  at: number;
}

/** Keys by due time, the earliest first. Each key is in it at most once. */
export class DeadlineHeap {
  readonly #entries: Entry[] = [];
  readonly #places = new Map<string, number>();

  get size(): number {
    return this.#entries.length;
  }

  /** When the first key is due; undefined if there is none. */
  get next(): number | undefined {
    return this.#entries[0]?.at;
  }

  /** Adds a key, or moves it to an earlier time. */
  add(key: string, at: number): void {
    const place = this.#places.get(key);
    if (place === undefined) {
      this.#rise(this.#entries.length, { key, at });
      return;
    }
    const entry = this.#entries[place];
    if (entry === undefined || entry.at <= at) return;
    entry.at = at;
    this.#rise(place, entry);
  }

  delete(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    const last = this.#entries.pop();
    if (last === undefined || place === this.#entries.length) return true;
    // The last entry fills the gap; it may belong above or below it.
    this.#rise(place, last);
    this.#sink(this.#places.get(last.key) ?? place, last);
    return true;
  }

  /** Takes the first key if it is due at `now`. */
  take(now: number): string | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.at > now) return undefined;
    this.delete(first.key);
    return first.key;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#places.clear();
  }

  #rise(place: number, entry: Entry): void {
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#entries[above];
      if (parent === undefined || parent.at <= entry.at) break;
      this.#set(place, parent);
      place = above;
    }
    this.#set(place, entry);
  }

  #sink(place: number, entry: Entry): void {
    for (;;) {
      let below = 2 * place + 1;
      const left = this.#entries[below];
      if (left === undefined) break;
      const right = this.#entries[below + 1];
      if (right !== undefined && right.at < left.at) below += 1;
      const child = right !== undefined && right.at < left.at ? right : left;
      if (child.at >= entry.at) break;
      this.#set(place, child);
      place = below;
    }
    this.#set(place, entry);
  }

  #set(place: number, entry: Entry): void {
    this.#entries[place] = entry;
    this.#places.set(entry.key, place);
  }
}
