import { badNumber, checkCount, checkFinite } from "./checks.ts";
import { Spread } from "./spread.ts";

/** What nodes carry and which parts of it can be moved. */
export interface Holdings {
  /** The level of each node, with everything that it carries. */
  readonly levels: Float64Array;
  /** The movable parts of node `i` are `sizes[offsets[i]]` to `sizes[offsets[i + 1] - 1]`, the greatest first. */
  readonly offsets: Int32Array;
  /** What each part contributes to the level of its own node. */
  readonly sizes: Float64Array;
  /**
   * For nodes of different capacity: the least and the most that another node's level rises, for each unit by which the
   * level of node `i` falls. Absent if every part counts the same everywhere.
   */
  readonly stretch?: { readonly least: Float64Array; readonly most: Float64Array };
}

/** The sum over nodes of the relaxed problem at two prices, and where its slopes point. */
interface Dual {
  readonly loadPrice: number;
  readonly movePrice: number;
  /** Below the sum of squared deviations plus `movePrice` times the moves, of every plan. */
  readonly value: number;
  /** Moves that the relaxed problem makes at these prices. */
  readonly moves: number;
}

/** A dual, and how it changes with the price of load. */
interface Solution {
  readonly dual: Dual;
  readonly slope: number;
}

interface Point {
  readonly price: number;
  readonly slope: number;
}

const LOAD_PRICE_STEPS = 22;
/** A slope per node at which the price of load is good enough. */
const FLAT = 1e-6;
const MOST_LINES = 48;
/** Lines are added until the bound gains less than this share of itself. */
const GAIN = 1e-4;
const MOST_CELLS = 12;
/** Room for rounding: the bound is lowered by this share of the present variance. */
const SLACK = 1e-12;

/**
 * A proved lower bound on the standard deviation of `levels` after at most 0, 1, … `budget` moves, whatever is moved
 * and wherever it lands. Element `k` of the answer is the bound for `k` moves; element 0 is the present standard
 * deviation.
 *
 * The bound is a Lagrangian dual: each move has a price, and each unit of load that is taken and put down has a price.
 * At any prices each node can be solved alone: it takes part in the cheapest of staying, receiving, and giving its
 * largest parts. The sum over nodes, less the price of all moves, is below the sum of squared deviations of every plan
 * (weak duality). So the search for good prices may stop anywhere, and the answer stays a bound. What cannot be moved
 * is the floor of its node.
 *
 * Where parts count differently on different nodes, moves also shift the mean. The deviations are then taken from an
 * interval that contains the mean, and the least bound over all intervals that it may lie in is the answer.
 */
export function sigmaBound(holdings: Holdings, budget: number): Float64Array {
  checkCount(budget, "the budget");
  const count = holdings.levels.length;
  if (count === 0) return new Float64Array(budget + 1);
  const problem = new Relaxation(holdings);
  const { variance, sigma } = new Spread(holdings.levels);
  const cells = meanCells(problem, budget, sigma);
  const middle = cells[cells.length >> 1] as Cell;
  const lines = supportingLines(problem, middle, budget);
  const least = new Float64Array(budget + 1).fill(Infinity);
  for (const cell of cells) {
    const shift = 2 * (cell.low - middle.low);
    const bounds =
      cell === middle
        ? lines
        : lines.map(({ loadPrice, movePrice }) => problem.dual(cell, loadPrice - shift, movePrice));
    for (let moves = 0; moves <= budget; moves += 1) {
      let bound = 0;
      for (const { value, movePrice } of bounds) bound = Math.max(bound, value - movePrice * moves);
      least[moves] = Math.min(least[moves] as number, bound);
    }
  }
  const slack = SLACK * variance;
  const curve = least.map((sum) => Math.sqrt(Math.max(0, sum / count - slack)));
  curve[0] = sigma;
  for (let moves = 1; moves <= budget; moves += 1) {
    curve[moves] = Math.min(curve[moves] as number, curve[moves - 1] as number);
  }
  return curve;
}

/** An interval that the mean may lie in. */
interface Cell {
  readonly low: number;
  readonly high: number;
}

/**
 * The intervals in which the mean can lie after `budget` moves; a single point where parts count the same everywhere.
 */
function meanCells(problem: Relaxation, budget: number, sigma: number): readonly Cell[] {
  const { low, high } = problem.meanAfter(budget);
  if (low === high) return [{ low, high }];
  const cells = Math.min(MOST_CELLS, Math.max(1, Math.ceil((high - low) / (sigma / 50))));
  const width = (high - low) / cells;
  return Array.from({ length: cells }, (_, index) => ({ low: low + index * width, high: low + (index + 1) * width }));
}

/**
 * Duals whose lines `value - movePrice · moves` together lie close to the best bound for each number of moves up to
 * `budget`. Starts with the prices at which nothing and everything moves, and adds lines between neighbours while that
 * still helps.
 */
function supportingLines(problem: Relaxation, cell: Cell, budget: number): readonly Dual[] {
  const lines = [problem.best(cell, problem.highestMovePrice(cell)), problem.best(cell, 0)];
  let gaps = [{ left: lines[0] as Dual, right: lines[1] as Dual }];
  while (gaps.length > 0 && lines.length < MOST_LINES) {
    const next: typeof gaps = [];
    for (const { left, right } of gaps) {
      if (lines.length >= MOST_LINES || left.moves >= Math.min(budget, right.moves)) continue;
      const [above, below] = [left, right].map(({ value, movePrice, moves }) => value - movePrice * moves);
      const movePrice = ((above as number) - (below as number)) / (right.moves - left.moves);
      if (!(movePrice > right.movePrice && movePrice < left.movePrice)) continue;
      const added = problem.best(cell, movePrice, (left.loadPrice + right.loadPrice) / 2);
      lines.push(added);
      const meeting = (left.value - right.value) / (left.movePrice - right.movePrice);
      const known = left.value - left.movePrice * meeting;
      const found = added.value - movePrice * meeting;
      if (found - known > GAIN * Math.abs(found)) next.push({ left, right: added }, { left: added, right });
    }
    gaps = next;
  }
  return lines;
}

/** Each node by itself, at given prices. */
class Relaxation {
  readonly #holdings: Holdings;
  /** Sums of the k greatest parts of each node, from k = 0; node `i` starts at `offsets[i] + i`. */
  readonly #sums: Float64Array;
  readonly #lowest: number;
  readonly #highest: number;

  constructor(holdings: Holdings) {
    const { levels, offsets, sizes } = holdings;
    this.#holdings = holdings;
    this.#sums = new Float64Array(sizes.length + levels.length);
    [this.#lowest, this.#highest] = [Infinity, -Infinity];
    for (let node = 0; node < levels.length; node += 1) {
      const level = levels[node] as number;
      checkFinite(level, "a level");
      this.#lowest = Math.min(this.#lowest, level);
      this.#highest = Math.max(this.#highest, level);
      let [sum, last] = [0, Infinity];
      for (let part = offsets[node] as number; part < (offsets[node + 1] as number); part += 1) {
        const size = sizes[part] as number;
        if (!(size >= 0 && size <= last)) throw badNumber(size, "a size", "at least 0 and at most the size before it");
        last = size;
        sum += size;
        this.#sums[part + node + 1] = sum;
      }
    }
  }

  /** Between what the mean can be after `budget` moves. */
  meanAfter(budget: number): Cell {
    const { levels, offsets, sizes, stretch } = this.#holdings;
    const { mean } = new Spread(levels);
    if (stretch === undefined) return { low: mean, high: mean };
    const [falls, rises] = [new Float64Array(sizes.length), new Float64Array(sizes.length)];
    for (let node = 0; node < levels.length; node += 1) {
      for (let part = offsets[node] as number; part < (offsets[node + 1] as number); part += 1) {
        falls[part] = (sizes[part] as number) * Math.max(0, 1 - (stretch.least[node] as number));
        rises[part] = (sizes[part] as number) * Math.max(0, (stretch.most[node] as number) - 1);
      }
    }
    const greatest = (parts: Float64Array) =>
      parts
        .sort()
        .subarray(Math.max(0, parts.length - budget))
        .reduce((sum, part) => sum + part, 0);
    return { low: mean - greatest(falls) / levels.length, high: mean + greatest(rises) / levels.length };
  }

  /** A price at which no move pays. */
  highestMovePrice({ low, high }: Cell): number {
    return 4 * Math.max(1e-9, high - this.#lowest, this.#highest - low, this.#highest - this.#lowest) ** 2;
  }

  /**
   * The best price of load at a price of moves. The dual is concave in it and its slope falls, so the best price lies
   * where the slope crosses 0; the false position method with halving (Illinois) finds it in few steps. It lies close
   * to the best price at a similar price of moves, which is `near`.
   */
  best(cell: Cell, movePrice: number, near?: number): Dual {
    const reach = 2 * Math.max(cell.high - this.#lowest, this.#highest - cell.low);
    const margin = near === undefined ? 2 * reach : reach / 16;
    const ends = [-1, 1].map((side) => {
      const price = Math.min(Math.max((near ?? 0) + side * margin, -reach), reach);
      const found = this.#solve(cell, price, movePrice);
      return found.slope * side > 0 ? this.#solve(cell, side * reach, movePrice) : found;
    }) as [Solution, Solution];
    let [low, high] = ends.map(({ dual: { loadPrice: price }, slope }) => ({ price, slope })) as [Point, Point];
    let best = ends[0].dual.value > ends[1].dual.value ? ends[0].dual : ends[1].dual;
    let side = 0;
    for (let step = 0; step < LOAD_PRICE_STEPS && low.slope > 0 && high.slope < 0; step += 1) {
      const share = low.slope / (low.slope - high.slope);
      const price = low.price + (high.price - low.price) * Math.min(Math.max(share, 0.01), 0.99);
      const { dual, slope } = this.#solve(cell, price, movePrice);
      if (dual.value > best.value) best = dual;
      if (Math.abs(slope) < FLAT * this.#holdings.levels.length) break;
      if (slope > 0) {
        low = { price, slope };
        if (side > 0) high = { ...high, slope: high.slope / 2 };
        side = 1;
      } else {
        high = { price, slope };
        if (side < 0) low = { ...low, slope: low.slope / 2 };
        side = -1;
      }
    }
    return best;
  }

  dual(cell: Cell, loadPrice: number, movePrice: number): Dual {
    return this.#solve(cell, loadPrice, movePrice).dual;
  }

  /**
   * A node that gives `f` and receives so that it ends at `y ≥ level − f` costs its squared deviation, less the load
   * price for its net gain. Where parts count differently elsewhere, what it gives is also worth `churn · f`, which is
   * never above 0. The best `y` is known, and the cost is convex in the number of parts given, so that number is found
   * by bisection.
   */
  #solve({ low, high }: Cell, loadPrice: number, movePrice: number): Solution {
    const { levels, offsets, stretch } = this.#holdings;
    const sums = this.#sums;
    const wanted = (loadPrice >= 0 ? high : low) + loadPrice / 2;
    let value = 0;
    let slope = 0;
    let moves = 0;
    for (let node = 0; node < levels.length; node += 1) {
      const level = levels[node] as number;
      const start = (offsets[node] as number) + node;
      const loss =
        stretch === undefined
          ? 0
          : loadPrice >= 0
            ? (stretch.least[node] as number) - 1
            : (stretch.most[node] as number) - 1;
      const churn = loadPrice * loss;
      let fewest = 0;
      let most = level <= wanted && churn === 0 ? 0 : (offsets[node + 1] as number) + node - start;
      while (fewest < most) {
        const parts = (fewest + most) >> 1;
        const less = sums[start + parts] as number;
        const more = sums[start + parts + 1] as number;
        const gain =
          costOf(less, level, wanted, low, high, loadPrice, churn) -
          costOf(more, level, wanted, low, high, loadPrice, churn);
        if (gain > movePrice) fewest = parts + 1;
        else most = parts;
      }
      const given = sums[start + fewest] as number;
      value += costOf(given, level, wanted, low, high, loadPrice, churn) + movePrice * fewest;
      slope += level - Math.max(wanted, level - given) + loss * given;
      moves += fewest;
    }
    return { dual: { loadPrice, movePrice, value, moves }, slope };
  }
}

/**
 * What a node costs that gives so much. The innermost loop calls it, so it takes numbers instead of closing over them.
 */
function costOf(
  given: number,
  level: number,
  wanted: number,
  low: number,
  high: number,
  loadPrice: number,
  churn: number,
): number {
  const end = Math.max(wanted, level - given);
  const deviation = end > high ? end - high : end < low ? low - end : 0;
  return deviation * deviation - loadPrice * (end - level) + churn * given;
}
