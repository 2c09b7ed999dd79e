import { setTimeout as sleep } from "node:timers/promises";
import { compareWith, plan } from "@evenkeel/eviction-planner/plan";
import { type Basis, type Run, runDescheduler, runPlanner, snapshot } from "./contest.ts";
import type { Stage } from "./stage.ts";
import type { Scene } from "./workload.ts";

/** Milliseconds after which the usage of a pod is settled for the planner, with some to spare. */
const SETTLING_MS = 130_000;

export interface Case {
  readonly name: string;
  readonly scene: Scene;
  readonly basis: Basis;
  /** Whether the emulation is meant to foresee descheduler's evictions: it knows no pods that are still terminating. */
  readonly isEmulated?: boolean;
}

/** What both did with the same cluster. */
export interface CaseRuns {
  readonly name: string;
  readonly basis: Basis;
  readonly isEmulated: boolean;
  readonly planner: Run;
  readonly rivals: readonly {
    readonly band: number;
    readonly run: Run;
    /** Evictions that the emulation foresaw. */
    readonly emulated: number;
  }[];
  /** σ that no plan can beat, for each number of evictions. */
  readonly bound: readonly number[];
}

export interface Contest {
  readonly stage: Stage;
  /** The program. */
  readonly descheduler: string;
  /** Percent around the mean with which descheduler runs, each in a run of its own. */
  readonly bands: readonly number[];
  readonly progress: (line: string) => void;
}

export async function runCase(
  { name, scene, basis, isEmulated = true }: Case,
  { stage, descheduler, bands, progress }: Contest,
): Promise<CaseRuns> {
  await stage.place(scene);
  const runs: { readonly band: number; readonly run: Run }[] = [];
  for (const band of bands) {
    const run = await runDescheduler(stage, { program: descheduler, kubeconfig: stage.kubeconfig, band, basis });
    progress(`${name}: descheduler, band ${band} %: ${summary(run)}`);
    runs.push({ band, run });
    await stage.place(scene);
  }
  if (basis === "usage") await sleep(SETTLING_MS);
  const before = await snapshot(stage, basis, { targetSigma: 0, budget: scene.pods.length });
  const { bound } = plan(before).curve;
  const rivals = runs.map(({ band, run }) => {
    return { band, run, emulated: compareWith(before, "low-node-utilization", band).evictions };
  });
  progress(`${name}: descheduler, emulated: ${rivals.map(({ emulated }) => emulated).join(", ")} evictions`);
  const targets = runs.map(({ run }) => run.points.at(-1)?.sigma ?? NaN);
  const planner = await runPlanner(stage, basis, targets);
  progress(`${name}: planner: ${summary(planner)}`);
  return { name, basis, isEmulated, planner, rivals, bound };
}

function summary({ points, returned }: Run): string {
  const [first, last] = [points[0]?.sigma ?? NaN, points.at(-1)?.sigma ?? NaN];
  return `${points.at(-1)?.evictions ?? 0} evictions, ${returned} returned, sigma ${first.toFixed(4)} to ${last.toFixed(4)}`;
}
