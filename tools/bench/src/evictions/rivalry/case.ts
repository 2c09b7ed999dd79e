import { compareWith, plan } from "@evenkeel/eviction-planner/plan";
import { type Run, runDescheduler, runPlanner, snapshot } from "./contest.ts";
import type { Stage } from "./stage.ts";
import type { Scene } from "./workload.ts";

export interface Case {
  readonly name: string;
  readonly scene: Scene;
}

/** What both did with the same cluster. */
export interface CaseRuns {
  readonly name: string;
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
  { name, scene }: Case,
  { stage, descheduler, bands, progress }: Contest,
): Promise<CaseRuns> {
  await stage.place(scene);
  const before = await snapshot(stage, { targetSigma: 0, budget: scene.pods.length });
  const { bound } = plan(before).curve;
  const rivals: CaseRuns["rivals"][number][] = [];
  for (const band of bands) {
    const run = await runDescheduler(stage, { program: descheduler, kubeconfig: stage.kubeconfig, band });
    const emulated = compareWith(before, "low-node-utilization", band).evictions;
    progress(`${name}: descheduler, band ${band} %: ${summary(run)}; emulated ${emulated}`);
    rivals.push({ band, run, emulated });
    await stage.place(scene);
  }
  const targets = rivals.map(({ run }) => run.points.at(-1)?.sigma ?? NaN);
  const planner = await runPlanner(stage, targets);
  progress(`${name}: planner: ${summary(planner)}`);
  return { name, planner, rivals, bound };
}

function summary({ points, returned }: Run): string {
  const [first, last] = [points[0]?.sigma ?? NaN, points.at(-1)?.sigma ?? NaN];
  return `${points.at(-1)?.evictions ?? 0} evictions, ${returned} returned, sigma ${first.toFixed(4)} to ${last.toFixed(4)}`;
}
