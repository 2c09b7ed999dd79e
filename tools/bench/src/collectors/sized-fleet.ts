import { hashText, rendezvous, type StickyBalance, stickyBalance } from "@evenkeel/scoring";

/** Targets on collectors whose number changes. */
export class SizedFleet {
  readonly addresses: readonly string[];
  readonly load: Float64Array;
  readonly total: number;
  readonly #id: Float64Array;
  #owner: Int32Array;

  constructor(load: readonly number[]) {
    this.load = Float64Array.from(load);
    this.total = this.load.reduce((sum, each) => sum + each, 0);
    this.addresses = load.map((_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}:8080`);
    this.#id = Float64Array.from(this.addresses, (address) => {
      const { high, low } = hashText(address);
      return high * 2 ** 20 + (low >>> 12);
    });
    this.#owner = new Int32Array(load.length).fill(-1);
  }

  /** Runs `count` collectors; the targets of those beyond are orphans. */
  resize(count: number): StickyBalance {
    const holders = Array.from({ length: count }, (_, index) => ({ name: `c-${index}` }));
    const { owner: ownerOf } = rendezvous(holders);
    const preferred = Int32Array.from(this.addresses, (address) => Number(ownerOf(address)?.slice(2)));
    const owner = this.#owner.map((index) => (index < count ? index : -1));
    const balance = stickyBalance(holders, { load: this.load, id: this.#id, owner, preferred });
    this.#owner = balance.owner;
    return balance;
  }
}

/**
 * How far loads are from the mean, in parts of what is allowed: 5 %, or the lightest target that a collector with too
 * much has, where that is larger. Collectors with a target above the mean do not count.
 */
export function outsideBand({ load }: Pick<SizedFleet, "load">, { loads, mean, owner, apart }: StickyBalance): number {
  const seats = new Set(apart.map((item) => owner[item]));
  const lightest = new Array<number>(loads.length).fill(Infinity);
  for (const [item, holder] of owner.entries())
    lightest[holder] = Math.min(lightest[holder] ?? Infinity, load[item] ?? Infinity);
  const least = Math.min(...lightest);
  const parts = [...loads].map((sum, holder) => {
    if (seats.has(holder)) return 0;
    const one = (sum > mean ? (lightest[holder] ?? 0) : least) / mean;
    return Math.abs(sum / mean - 1) / Math.max(BAND, one);
  });
  return Math.max(0, ...parts);
}

const BAND = 0.05;
