/** How well a rule did. Times are in milliseconds, parts from 0 to 1. */
export interface Totals {
  /** How often the weight changed. */
  readonly changes: number;
  /** Time in which the base got more than its target. */
  readonly overload: number;
  /** Part of the load of the base that was above its target. */
  readonly excess: number;
  /** The highest load of the base as a multiple of its target. */
  readonly worst: number;
  /** Time in which the base got more than its target and the band, or less although a lower weight was possible. */
  readonly outside: number;
  readonly lowest: number;
  readonly highest: number;
}

export interface TallyOptions {
  /** The load that the base should get. */
  readonly target: number;
  /** Part of the target. */
  readonly band: number;
  /** Milliseconds that each step counts for. */
  readonly step: number;
}

/** Rounding of doubles is no overload. */
const ROUNDING = 1e-9;

/** Adds up what a rule did, step by step. */
export class Tally {
  readonly #options: TallyOptions;
  #changes = 0;
  #overload = 0;
  #outside = 0;
  #worst = 0;
  #above = 0;
  #borne = 0;
  #lowest = Infinity;
  #highest = 0;

  constructor(options: TallyOptions) {
    this.#options = options;
  }

  /** One step: the load of the base, null if it is unknown, with a weight that could be lower or not. */
  add(borne: number | null, weight: number, changed: boolean, couldBeLower: boolean): void {
    const { target, band, step } = this.#options;
    if (changed) this.#changes += 1;
    this.#lowest = Math.min(this.#lowest, weight);
    this.#highest = Math.max(this.#highest, weight);
    if (borne === null) return;
    const part = borne / target;
    this.#worst = Math.max(this.#worst, part);
    this.#borne += borne;
    this.#above += Math.max(0, borne - target);
    if (part > 1 + ROUNDING) this.#overload += step;
    if (part > 1 + band + ROUNDING || (part < 1 - band - ROUNDING && couldBeLower)) this.#outside += step;
  }

  totals(): Totals {
    return {
      changes: this.#changes,
      overload: this.#overload,
      excess: this.#borne === 0 ? 0 : this.#above / this.#borne,
      worst: this.#worst,
      outside: this.#outside,
      lowest: Number.isFinite(this.#lowest) ? this.#lowest : 0,
      highest: this.#highest,
    };
  }
}
