/** The addresses of an IPv4 range, each lent to one holder at a time, round and round so that one comes back late. */
export class PodAddresses {
  readonly #first: number;
  readonly #size: number;
  readonly #lent = new Set<number>();
  #next = 0;

  /** `cidr` such as `10.244.0.0/16`. Its first and last address are not lent. */
  constructor(cidr: string) {
    const [, network = "", bits = ""] = /^((?:\d{1,3}\.){3}\d{1,3})\/(\d{1,2})$/.exec(cidr) ?? [];
    const octets = network.split(".").map(Number);
    const size = 2 ** (32 - Number(bits || 33));
    if (size < 4 || octets.some((octet) => octet > 255)) {
      throw new Error(`${JSON.stringify(cidr)} is no range of pod addresses: write one such as 10.244.0.0/16`);
    }
    this.#first = Math.floor(octets.reduce((sum, octet) => sum * 256 + octet, 0) / size) * size + 1;
    this.#size = size - 2;
  }

  /** A free address; undefined if none is left. */
  take(): string | undefined {
    if (this.#lent.size >= this.#size) return undefined;
    while (this.#lent.has(this.#next)) this.#next = (this.#next + 1) % this.#size;
    const offset = this.#next;
    this.#lent.add(offset);
    this.#next = (offset + 1) % this.#size;
    const address = this.#first + offset;
    return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
  }

  release(address: string): void {
    const value = address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
    this.#lent.delete(value - this.#first);
  }
}
