import type { Plan, PlannedMove, PodName, Stay } from "./answer.ts";
import type { Budgets } from "./budgets.ts";
import type { MadeMove } from "./course.ts";
import { type Hold, hold } from "./obstacles.ts";
import type { Ending } from "./search.ts";
import { type ClusterSnapshot, NONE } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

/** Landings that are less likely than this are not named. */
const WORTH_NAMING = 0.001;

export const HOLD_OF_ENDING: Readonly<Record<Ending, Hold>> = {
  TargetReached: hold("TargetReached"),
  BudgetSpent: hold("Budget"),
  AsLevelAsItGets: hold("NoGain"),
};

/** What became of pods in a search. */
export interface Staying {
  hasMoved(pod: number): boolean;
  holdOf(pod: number): Hold | undefined;
  readonly ending: Ending;
}

/** Turns rows of the snapshot into names. */
export class Describer {
  readonly #cluster: ClusterSnapshot;
  /** By owner; shared by all pods of it. */
  readonly #workloads: readonly NonNullable<PodName["workload"]>[];

  constructor(cluster: ClusterSnapshot) {
    this.#cluster = cluster;
    this.#workloads = cluster.owners.map(({ workload: { kind, name } }) => ({ kind, name }));
  }

  node(node: number): string {
    return this.#cluster.nodes[node]?.name ?? "";
  }

  pod(pod: number): PodName {
    const { pods, shapes } = this.#cluster;
    return {
      uid: pods.uid[pod] ?? "",
      namespace: shapes[pods.shape[pod] as number]?.namespace ?? "",
      name: pods.name[pod] ?? "",
      workload: this.#workloads[pods.owner[pod] as number] ?? null,
    };
  }

  moves(moves: readonly MadeMove[], before: number, budgets: Budgets, costOf: (pod: number) => number): PlannedMove[] {
    const { pods, owners } = this.#cluster;
    return moves.map(({ pod, from, to, possible, sigma }, index) => ({
      pod: this.pod(pod),
      owner: owners[pods.owner[pod] as number]?.uid ?? "",
      shape: pods.shape[pod] as number,
      from: this.node(from),
      landings: possible
        .filter(({ probability }) => probability >= WORTH_NAMING)
        .map(({ node, probability }) => ({ node: this.node(node), probability })),
      countedOn: this.node(to),
      sigma,
      deltaSigma: sigma - (moves[index - 1]?.sigma ?? before),
      cost: costOf(pod),
      limits: [...budgets.limits(pod)],
    }));
  }

  /** How many pods of some slots stay for which reason, the commonest first. */
  held(slots: readonly number[], utilisation: Utilisation, staying: Staying): Plan["held"] {
    const isSource = utilisation.levels.map(() => 0);
    for (const slot of slots) isSource[slot] = 1;
    // Most pods share few holds, so the text of each hold is made once.
    const counts = new Map<Hold, number>();
    this.#eachStaying(
      (slot) => isSource[slot] === 1,
      utilisation,
      staying,
      (pod) => {
        const hold = staying.holdOf(pod) ?? HOLD_OF_ENDING[staying.ending];
        counts.set(hold, (counts.get(hold) ?? 0) + 1);
      },
    );
    const sums = new Map<string, Hold & { pods: number }>();
    for (const [{ code, by }, pods] of counts) {
      const sum = sums.get(`${code} ${by}`) ?? { code, by, pods: 0 };
      sum.pods += pods;
      sums.set(`${code} ${by}`, sum);
    }
    return [...sums.values()].sort(
      (a, b) => b.pods - a.pods || compare(a.code, b.code) || compare(a.by ?? "", b.by ?? ""),
    );
  }

  /** Every pod of a hot node that is not moved, by node and uid. */
  stays(isHot: readonly boolean[], utilisation: Utilisation, staying: Staying): Stay[] {
    const { pods } = this.#cluster;
    const bySlot = isHot.map((): number[] => []);
    this.#eachStaying(
      (slot) => isHot[slot] === true,
      utilisation,
      staying,
      (pod, slot) => bySlot[slot]?.push(pod),
    );
    return bySlot.flatMap((own) =>
      own
        .sort((a, b) => compare(pods.uid[a] ?? "", pods.uid[b] ?? ""))
        .map((pod) => {
          const { code, by } = staying.holdOf(pod) ?? HOLD_OF_ENDING[staying.ending];
          return { code, by, pod: this.pod(pod), node: this.node(pods.node[pod] as number) };
        }),
    );
  }

  /** Visits the pods of some slots that are not moved. */
  #eachStaying(
    isWanted: (slot: number) => boolean,
    { slotOf }: Utilisation,
    staying: Staying,
    visit: (pod: number, slot: number) => void,
  ): void {
    const { pods } = this.#cluster;
    for (let pod = 0; pod < pods.uid.length; pod += 1) {
      const slot = slotOf[pods.node[pod] as number] ?? NONE;
      if (slot !== NONE && isWanted(slot) && !staying.hasMoved(pod)) visit(pod, slot);
    }
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
