import type { Outcome } from "../../suite.ts";
import { type CaseRuns, runCase } from "./case.ts";
import { buildDescheduler } from "./descheduler.ts";
import { caseFigures, casePlot } from "./figures.ts";
import { Stage } from "./stage.ts";
import { type Extent, sceneOf, type Sizes } from "./workload.ts";

/** 1,500 pods on the first 50 nodes. */
const EXTENT: Extent = { nodes: 100, workloads: 60 };

/** Percent around the mean. Where descheduler stops, the nodes are that level. */
const BANDS: readonly number[] = [5, 10, 20];

/** The highest share of descheduler's evictions that the planner may need. With equal sizes no pod is a better choice than another. */
const MOST_OF_RIVAL: Readonly<Record<Sizes, number>> = { equal: 1.02, uniform: 0.8, lognormal: 0.6 };

/**
 * The planner against descheduler on a real control plane: evictions, and how level the nodes are when all replacements run.
 * Both begin with the same pods on the same nodes.
 */
export async function measureRivalry(progress: (line: string) => void, extent = EXTENT): Promise<Outcome> {
  const descheduler = await buildDescheduler(progress);
  await using stage = await Stage.start(extent.nodes, progress);
  const measured = async (sizes: Sizes): Promise<CaseRuns> =>
    runCase({ name: `${sizes} sizes`, scene: sceneOf(sizes, extent) }, { stage, descheduler, bands: BANDS, progress });
  const [equal, uniform, lognormal] = [await measured("equal"), await measured("uniform"), await measured("lognormal")];
  return {
    results: [
      ...caseFigures(equal, MOST_OF_RIVAL.equal),
      ...caseFigures(uniform, MOST_OF_RIVAL.uniform),
      ...caseFigures(lognormal, MOST_OF_RIVAL.lognormal),
    ],
    plot: casePlot(lognormal),
  };
}
