import { defaultPolicy, listCluster, metricsApi, NO_USAGE, snapshotOf } from "@evenkeel/eviction-planner/observe";
import { plan, type PlanSnapshot } from "@evenkeel/eviction-planner/plan";
import { systemClock } from "@evenkeel/runtime";
import { deschedule, type DeschedulerOptions } from "./descheduler.ts";
import type { SeenPod, Stage } from "./stage.ts";

/** Which load is made level. */
export type Basis = PlanSnapshot["policy"]["spec"]["basis"];

/** σ of the nodes after so many evictions and the landing of all replacements. */
export interface Point {
  readonly evictions: number;
  readonly sigma: number;
}

/** What a contender did. */
export interface Run {
  /** The first is before any eviction. */
  readonly points: readonly Point[];
  /** Evictions whose replacement runs on the node that was to be relieved. */
  readonly returned: number;
}

/** Evictions after which σ is compared. */
export const BUDGETS: readonly number[] = [10, 50, 200];

/** Cycles after which descheduler is stopped: on some clusters it evicts for ever. */
const MOST_CYCLES = 12;
/** Evictions of the planner before it looks at the cluster again. */
const WAVE = 25;
const EMPTY_DIR_LIMIT = 2 * 2 ** 30;

/** Runs descheduler in cycles until it evicts nothing, with pauses at the budgets that are compared. */
export async function runDescheduler(stage: Stage, options: DeschedulerOptions): Promise<Run> {
  const record = await Record.of(stage, options.basis);
  for (let cycle = 0; cycle < MOST_CYCLES; cycle += 1) {
    const limit = nextBudget(record.evictions) - record.evictions;
    await deschedule(options, limit);
    if ((await record.look()) === 0) break;
  }
  return record;
}

/** Plans, evicts a wave, waits until all landed and plans again, until σ is as low as the last target. */
export async function runPlanner(stage: Stage, basis: Basis, targets: readonly number[]): Promise<Run> {
  const record = await Record.of(stage, basis);
  for (const targetSigma of targets.toSorted((a, b) => b - a)) {
    for (;;) {
      if (record.sigma <= targetSigma) break;
      const budget = Math.min(WAVE, nextBudget(record.evictions) - record.evictions);
      const { moves } = plan(await snapshot(stage, basis, { targetSigma, budget }));
      if (moves.length === 0) break;
      await stage.evict(moves.map(({ pod }) => pod));
      await record.look();
    }
  }
  return record;
}

/** The cluster as the planner sees it. */
export async function snapshot(
  { kube }: Stage,
  basis: Basis,
  { targetSigma, budget }: { readonly targetSigma?: number; readonly budget: number },
): Promise<PlanSnapshot> {
  const signal = AbortSignal.timeout(60_000);
  const { objects } = await listCluster(kube, { signal });
  const usage = basis === "usage" ? await metricsApi(kube, systemClock).read(signal) : NO_USAGE;
  const { name, spec } = defaultPolicy();
  const policy = { name, spec: { ...spec, basis, ...(targetSigma !== undefined && { targetSigma }) } };
  const at = Date.now();
  return snapshotOf(objects, usage, { at, policy, budget, memory: null, emptyDirLimit: EMPTY_DIR_LIMIT });
}

function nextBudget(evictions: number): number {
  return BUDGETS.find((budget) => budget > evictions) ?? 100_000;
}

/** What happens on a stage, step by step. */
class Record implements Run {
  readonly points: Point[] = [];
  returned = 0;
  readonly #stage: Stage;
  readonly #basis: Basis;
  #pods: readonly SeenPod[] = [];

  private constructor(stage: Stage, basis: Basis) {
    this.#stage = stage;
    this.#basis = basis;
  }

  static async of(stage: Stage, basis: Basis): Promise<Record> {
    const record = new Record(stage, basis);
    record.#pods = await stage.landed();
    record.points.push({ evictions: 0, sigma: await sigmaOf(stage, basis) });
    return record;
  }

  get evictions(): number {
    return this.points.at(-1)?.evictions ?? 0;
  }

  get sigma(): number {
    return this.points.at(-1)?.sigma ?? NaN;
  }

  /** Waits until all landed, and tells how many pods were evicted since the last look. */
  async look(): Promise<number> {
    const before = this.#pods;
    this.#pods = await this.#stage.landed();
    const gone = missing(before, this.#pods);
    this.returned += countReturned(gone, missing(this.#pods, before));
    if (gone.length > 0) {
      this.points.push({ evictions: this.evictions + gone.length, sigma: await sigmaOf(this.#stage, this.#basis) });
    }
    return gone.length;
  }
}

async function sigmaOf(stage: Stage, basis: Basis): Promise<number> {
  return plan(await snapshot(stage, basis, { budget: 0 })).sigma?.before ?? NaN;
}

function missing(some: readonly SeenPod[], others: readonly SeenPod[]): readonly SeenPod[] {
  const known = new Set(others.map(({ uid }) => uid));
  return some.filter(({ uid }) => !known.has(uid));
}

/**
 * Replacements on a node from which a pod of the same workload was evicted. Which replacement is for which pod cannot
 * be told where a workload lost several at once, so this counts too many rather than too few.
 */
export function countReturned(
  evicted: readonly Pick<SeenPod, "workload" | "node">[],
  replacements: readonly Pick<SeenPod, "workload" | "node">[],
): number {
  const left = new Map<string, number>();
  for (const { workload, node } of evicted) {
    const key = `${workload} ${node}`;
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  let returned = 0;
  for (const { workload, node } of replacements) {
    const key = `${workload} ${node}`;
    const count = left.get(key) ?? 0;
    if (count === 0) continue;
    left.set(key, count - 1);
    returned += 1;
  }
  return returned;
}
