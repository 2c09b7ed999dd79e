/** A cache of Secrets as the API server returned them. The oldest are dropped first when the limits are exceeded. */
export class SecretCache {
  readonly #limits: SecretCacheLimits;
  readonly #entries = new Map<string, Entry>();
  #size = 0;

  constructor(limits: SecretCacheLimits) {
    this.#limits = limits;
  }

  /** The Secret if it was cached since `oldest` on the monotonic clock. */
  get(key: string, oldest: number): SecretData | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.at >= oldest ? entry.data : undefined;
  }

  set(key: string, data: SecretData, at: number): void {
    this.delete(key);
    const size = Object.entries(data).reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
    this.#entries.set(key, { data, at, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.count && this.#size <= this.#limits.characters) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}

/** Values in base64, by key. */
export type SecretData = Readonly<Record<string, string>>;

export interface SecretCacheLimits {
  readonly count: number;
  /** Of keys and values, in all. */
  readonly characters: number;
}

interface Entry {
  readonly data: SecretData;
  readonly at: number;
  readonly size: number;
}
