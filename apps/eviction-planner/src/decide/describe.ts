import type { PlannedMove, PodName, Stay } from "./answer.ts";
import type { Budgets } from "./budgets.ts";
import type { MadeMove } from "./course.ts";
import { type Hold, hold } from "./obstacles.ts";
import type { Ending } from "./search.ts";
import type { ClusterSnapshot } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

/** Landings that are less likely than this are not named. */
const WORTH_NAMING = 0.001;

const HOLD_OF_ENDING: Readonly<Record<Ending, Hold>> = {
  TargetReached: hold("TargetReached"),
  BudgetSpent: hold("Budget"),
  AsLevelAsItGets: hold("NoGain"),
};

/** Turns rows of the snapshot into names. */
export class Describer {
  readonly #cluster: ClusterSnapshot;

  constructor(cluster: ClusterSnapshot) {
    this.#cluster = cluster;
  }

  node(node: number): string {
    return this.#cluster.nodes[node]?.name ?? "";
  }

  pod(pod: number): PodName {
    const { pods, shapes, owners } = this.#cluster;
    const workload = owners[pods.owner[pod] as number]?.workload;
    return {
      uid: pods.uid[pod] ?? "",
      namespace: shapes[pods.shape[pod] as number]?.namespace ?? "",
      name: pods.name[pod] ?? "",
      workload: workload === undefined ? null : { kind: workload.kind, name: workload.name },
    };
  }

  moves(moves: readonly MadeMove[], before: number, budgets: Budgets, costOf: (pod: number) => number): PlannedMove[] {
    const { pods, owners } = this.#cluster;
    return moves.map(({ pod, from, possible, sigma }, index) => ({
      pod: this.pod(pod),
      owner: owners[pods.owner[pod] as number]?.uid ?? "",
      shape: pods.shape[pod] as number,
      from: this.node(from),
      landings: possible
        .filter(({ probability }) => probability >= WORTH_NAMING)
        .map(({ node, probability }) => ({ node: this.node(node), probability })),
      sigma,
      deltaSigma: sigma - (moves[index - 1]?.sigma ?? before),
      cost: costOf(pod),
      limits: [...budgets.limits(pod)],
    }));
  }

  /** Every pod of a hot node that is not moved, by node and uid. */
  stays(
    isHot: readonly boolean[],
    { slotOf }: Utilisation,
    search: { hasMoved(pod: number): boolean; holdOf(pod: number): Hold | undefined; readonly ending: Ending },
  ): Stay[] {
    const stays: Stay[] = [];
    const { pods } = this.#cluster;
    for (let pod = 0; pod < pods.uid.length; pod += 1) {
      const node = pods.node[pod] as number;
      if (isHot[slotOf[node] ?? -1] !== true || search.hasMoved(pod)) continue;
      const { code, by } = search.holdOf(pod) ?? HOLD_OF_ENDING[search.ending];
      stays.push({ code, by, pod: this.pod(pod), node: this.node(node) });
    }
    return stays.sort((a, b) => compare(a.node, b.node) || compare(a.pod.uid, b.pod.uid));
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
