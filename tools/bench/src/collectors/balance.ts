import { barred, figure, type Result } from "../result.ts";
import type { Series } from "../suite.ts";
import { consistentHashing, leastWeighted } from "./allocator-strategies.ts";
import { type Shape, SHAPES } from "./load-shapes.ts";
import { outsideBand, SizedFleet } from "./sized-fleet.ts";
import { zoneFigures } from "./zones.ts";

const JOINS = [
  [3, 4],
  [10, 11],
  [15, 16],
  [50, 51],
] as const;

export interface Rivals {
  readonly results: readonly Result[];
  readonly series: readonly Series[];
}

/** How level loads are after a change of collectors, and how much load moved, in parts of the bound and of all load. */
export function balanceFigures(progress: (line: string) => void): readonly Result[] {
  const results: Result[] = [];
  for (const count of [1000, 10_000, 100_000])
    for (const shape of Object.keys(SHAPES) as Shape[]) {
      results.push(...changes(count, shape));
      progress(`${count} ${shape}`);
    }
  results.push(...zoneFigures());
  progress("three zones");
  return results;
}

function changes(count: number, shape: Shape): readonly Result[] {
  const loads = SHAPES[shape](count);
  const [worst, beyond] = [
    { joins: 0, loss: 0 },
    { joins: 0, loss: 0 },
  ];
  const note = (kind: "joins" | "loss", fleet: SizedFleet, to: number) => {
    const after = fleet.resize(to);
    worst[kind] = Math.max(worst[kind], outsideBand(fleet, after));
    beyond[kind] = Math.max(beyond[kind], (100 * (after.moved - after.bound)) / fleet.total);
  };
  for (const [from, to] of JOINS) {
    const fleet = new SizedFleet(loads);
    fleet.resize(from);
    note("joins", fleet, to);
  }
  const walk = new SizedFleet(loads);
  walk.resize(3);
  for (let to = 4; to <= 10; to += 1) note("joins", walk, to);
  note("loss", walk, 9);
  const name = `${count.toLocaleString("en")} ${shape}`;
  const most = shape === "whales" ? "<= 2" : "<= 1";
  return [
    barred(`${name}, joins: farthest from the mean, of 5 % or one target`, worst.joins, "", "<= 1.002"),
    barred(`${name}, joins: moved beyond the bound`, beyond.joins, "% of load", most),
    barred(`${name}, loss of one: farthest from the mean, of 5 % or one target`, worst.loss, "", "<= 1.002"),
    barred(`${name}, loss of one: moved beyond the bound`, beyond.loss, "% of load", most),
  ];
}

/** 10,000 lognormal targets: ours beside ports of the target allocator's strategies. */
export function rivals(): Rivals {
  const loads = SHAPES.lognormal(10_000);
  const results: Result[] = [];
  const series: Series[] = [];
  for (const [from, to] of JOINS) {
    const fleet = new SizedFleet(loads);
    const { addresses } = fleet;
    const ours = { before: fleet.resize(from).owner, after: fleet.resize(to).owner };
    const ring = { before: consistentHashing(addresses, from), after: consistentHashing(addresses, to) };
    const placed = leastWeighted(new Int32Array(loads.length).fill(-1), from);
    const least = { before: placed, after: leastWeighted(placed, to) };
    const contenders = { ours, "port of consistent-hashing": ring, "port of least-weighted": least };
    for (const [name, { before, after }] of Object.entries(contenders)) {
      const moved = after.reduce((sum, owner, item) => sum + (owner === before[item] ? 0 : 1), 0);
      const sums = new Array<number>(to).fill(0);
      for (const [item, owner] of after.entries()) sums[owner] = (sums[owner] ?? 0) + (loads[item] ?? 0);
      const mean = fleet.total / to;
      const [max, min] = [Math.max(...sums) / mean, Math.min(...sums) / mean];
      results.push(
        figure(`${from}→${to}, ${name}: targets moved`, (100 * moved) / loads.length, "%"),
        figure(`${from}→${to}, ${name}: max / mean load`, max, ""),
        figure(`${from}→${to}, ${name}: min / mean load`, min, ""),
      );
      series.push({ name: `${from}→${to}, ${name}`, values: [max], middle: max });
    }
  }
  return { results, series };
}
