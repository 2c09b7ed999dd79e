/** Clients' headers that never reach an upstream, in lower case. Headers of the route with these names do. */
export interface StripOptions {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

export class StrippedHeaders {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  constructor({ names, prefixes }: StripOptions) {
    this.#names = new Set(names);
    this.#prefixes = prefixes;
  }

  /** `name` is in lower case. */
  has(name: string): boolean {
    if (this.#names.has(name)) return true;
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true;
    return false;
  }

  /** Without the stripped ones, from alternating names and values in any case. */
  rest(list: readonly string[]): string[] {
    const rest: string[] = [];
    for (let index = 0; index < list.length; index += 2) {
      const name = list[index] as string;
      if (!this.has(name.toLowerCase())) rest.push(name, list[index + 1] as string);
    }
    return rest;
  }
}
