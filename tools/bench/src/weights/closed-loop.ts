import { BASE, type Controller, MOST, POLICY, type Scope, TARGET } from "./controllers.ts";
import { Plant } from "./plant.ts";
import type { Sight, Trace } from "./traces.ts";

/** Seconds between two reconciles, unless a run says otherwise. */
export const INTERVAL = 15;
/** Seconds between two scrapes: a query sees the mean of the time since the last. */
const SCRAPE = 15;

/** What became of it, second by second. */
export interface Course {
  readonly weights: readonly number[];
  /** The load of the base environment as a multiple of its target. */
  readonly loads: readonly number[];
  /** Weights that Route 53 would not take. */
  readonly refused: number;
}

/** Runs a controller against the plant in virtual time. It starts where the load's first value is in balance. */
export function closedLoop(trace: Trace, scope: Scope, controller: Controller, interval = INTERVAL): Course {
  const balance = Math.ceil(BASE * Math.max(0, trace.load(0) / TARGET - 1));
  const plant = new Plant(BASE, Math.max(balance, POLICY.minimum));
  const weights: number[] = [];
  const loads: number[] = [];
  const seen: number[] = [];
  let refused = 0;
  for (let second = 0; second < trace.seconds; second++) {
    plant.step();
    const total = trace.load(second);
    const base = total * plant.baseShare();
    seen.push(scope === "total" ? total : base);
    if (second % interval === interval - 1) {
      const scraped = seen.slice(-SCRAPE);
      const mean = scraped.reduce((sum, value) => sum + value, 0) / scraped.length;
      const sight = trace.sight(second, (second + 1) / interval);
      const weight = controller.weight(second, scaled(sight, mean), plant.weight);
      if (weight >= 0 && weight <= MOST) plant.weight = weight;
      else refused += 1;
    }
    weights.push(plant.weight);
    loads.push(base / TARGET);
  }
  return { weights, loads, refused };
}

function scaled(sight: Sight, value: number): Sight {
  return typeof sight === "number" ? sight * value : sight;
}
