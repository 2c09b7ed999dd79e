import type { Plan } from "../decide/answer.ts";
import { hold, type Obstacle } from "../decide/obstacles.ts";

/** A plan that moves one pod and holds another, with some fields of its own. */
export function samplePlan(own: Partial<Plan> = {}): Plan {
  return {
    policy: "default",
    outcome: "AsLevelAsItGets",
    faults: [],
    nodes: { known: 3, hot: 1, cold: 2, frozen: [] },
    sigma: { before: 0.4, predicted: 0.2, bound: 0.19 },
    curve: { predicted: [0.4, 0.2], bound: [0.4, 0.19] },
    classes: [],
    moves: [sampleMove("press-1")],
    likelyNodes: [],
    held: [],
    stays: [sampleStay("press-2", "Pinned")],
    rightSizing: [],
    levels: {},
    underWay: null,
    ...own,
  };
}

export function sampleMove(name: string): Plan["moves"][number] {
  const landings = [{ node: "two", probability: 1 }];
  return {
    ...{ pod: podName(name), owner: "owner", shape: 0, from: "one", landings, countedOn: "two", limits: [] },
    ...{ sigma: 0.2, deltaSigma: -0.2, cost: 0 },
  };
}

export function sampleStay(name: string, code: Obstacle): Plan["stays"][number] {
  return { ...hold(code), pod: podName(name), node: "one" };
}

function podName(name: string) {
  return { uid: `uid-${name}`, namespace: "shop", name, workload: { kind: "Deployment", name: "press" } };
}
