import type { Answer } from "@evenkeel/eviction-planner/observe";
import { OBSTACLES, type Plan, type PlanSnapshot } from "@evenkeel/eviction-planner/plan";
import type { Screen } from "../show/screen.ts";
import { bar, curvePoints, kneeOf } from "./curve.ts";

/** Moves and holds in a table; `-o json` has all. */
const LISTED = 20;

const sigmaText = (sigma: number): string => sigma.toFixed(4);
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** Shows a plan: the curve with its bound and knee, the moves, and why the other pods stay. */
export function showPlan(screen: Screen, snapshot: PlanSnapshot, answer: Answer, notes: readonly string[]): void {
  const { cluster, policy } = snapshot;
  const { plan } = answer;
  const { nodes, sigma, moves } = plan;
  screen.lines(
    `${counted(cluster.nodes.length, "node")}, ${counted(cluster.pods.uid.length, "pod")}, ${policy.spec.basis} at ${new Date(snapshot.at).toISOString()}.`,
    ...notes,
    ...frozenLines(plan),
    "",
  );
  if (sigma === null) return;
  const { hotThreshold } = policy.spec;
  screen.lines(
    `${counted(nodes.hot, "hot node")} (${percent(hotThreshold)} or more), ${counted(nodes.cold, "cold node")}.`,
  );
  screen.lines(verdict(plan), "");
  if (moves.length > 0) {
    showCurve(screen, plan);
    showMoves(screen, plan);
  }
  showComparison(screen, answer);
  showHeld(screen, answer);
  showRightSizing(screen, plan);
}

function verdict({ outcome, sigma, moves, nodes }: Plan): string {
  if (sigma === null) return "";
  const [before, after, bound] = [sigma.before, sigma.predicted, sigma.bound].map(sigmaText);
  const end = `no plan with as many gets below ${bound ?? ""}`;
  const now = `Sigma, the standard deviation of utilisation, is ${before ?? ""}.`;
  if (moves.length > 0) return `${now} ${counted(moves.length, "eviction")} bring it to ${after ?? ""}; ${end}.`;
  if (outcome === "TargetReached")
    return `${now} No eviction is needed: ${nodes.hot === 0 ? "no node is hot" : "its target is reached"}. Set targetSigma in a policy to level all nodes.`;
  if (outcome === "BudgetSpent") return `${now} The budget allows no eviction.`;
  return `${now} No eviction that is allowed would make the nodes more level.`;
}

function showCurve(screen: Screen, plan: Plan): void {
  const points = curvePoints(plan);
  screen.table(
    [
      { title: "EVICTIONS", right: true },
      { title: "SIGMA", right: true },
      { title: "BOUND", right: true },
      { title: "SIGMA, DARK UP TO THE BOUND" },
    ],
    points.map((point) => [
      String(point.evictions),
      sigmaText(point.sigma),
      sigmaText(point.bound),
      bar(point, plan.sigma?.before ?? 0),
    ]),
  );
  const knee = kneeOf(plan);
  const possible = plan.curve.bound.at(-1);
  if (knee !== undefined)
    screen.lines(`${counted(knee.evictions, "eviction")} bring ${percent(knee.share)} of what is possible.`);
  else if (plan.sigma !== null && possible !== undefined && plan.sigma.before > possible) {
    const share = (plan.sigma.before - plan.sigma.predicted) / (plan.sigma.before - possible);
    const end = plan.outcome === "TargetReached" ? "The policy's target is reached with" : "The plan brings";
    screen.lines(`${end} ${percent(share)} of what is possible.`);
  }
  screen.lines("");
}

function showMoves(screen: Screen, { moves }: Plan): void {
  screen.table(
    [
      { title: "#", right: true },
      { title: "EVICT" },
      { title: "WORKLOAD" },
      { title: "FROM" },
      { title: "SIGMA", right: true },
      { title: "EXPECTED ON" },
    ],
    moves.slice(0, LISTED).map(({ pod, from, landings, sigma }, index) => [
      String(index + 1),
      `${pod.namespace}/${pod.name}`,
      pod.workload === null ? "" : `${pod.workload.kind}/${pod.workload.name}`,
      from,
      sigmaText(sigma),
      landings
        .slice(0, 3)
        .map(({ node, probability }) => `${node} ${percent(probability)}`)
        .join(", "),
    ]),
  );
  if (moves.length > LISTED) screen.lines(`and ${counted(moves.length - LISTED, "more move")}; -o json lists all.`);
  screen.lines("");
}

/** Why pods of nodes that the policy wants to relieve stay, and what this costs. */
function showHeld(screen: Screen, { plan: { held }, prices }: Answer): void {
  if (held.length === 0) return;
  const priceOf = (code: string, by: string | null): string => {
    const price = prices.find((one) => one.code === code && one.by === by);
    return price === undefined ? "" : sigmaText(price.sigma);
  };
  screen.lines("What holds the other pods. COST is by how much sigma would be lower without it:");
  screen.table(
    [
      { title: "PODS", right: true },
      { title: "CODE" },
      { title: "BY" },
      { title: "COST", right: true },
      { title: "WHY" },
    ],
    held
      .slice(0, LISTED)
      .map(({ code, by, pods }) => [String(pods), code, by ?? "", priceOf(code, by), OBSTACLES[code]]),
  );
  screen.lines("");
}

function showComparison(screen: Screen, { comparison, plan }: Answer): void {
  if (comparison === null) return;
  const { evictions, returned, sigma, band, evictionsForSameSigma: same } = comparison;
  const before = plan.sigma?.before ?? sigma;
  const own = same === null ? "this planner does not reach that" : `this planner needs ${counted(same, "eviction")}`;
  screen.lines(
    evictions === 0
      ? `descheduler LowNodeUtilization (emulated, band ${band} %) would evict nothing.`
      : `descheduler LowNodeUtilization (emulated, band ${band} %): ${counted(evictions, "eviction")}, ${returned} of them back on the same node, bring sigma from ${sigmaText(before)} to ${sigmaText(sigma)}; ${own}.`,
    "",
  );
}

function showRightSizing(screen: Screen, { rightSizing }: Plan): void {
  if (rightSizing.length === 0) return;
  screen.lines("Requests that are far from usage mislead the scheduler. Per pod, the largest differences:");
  const amount = (resource: string, value: number): string =>
    resource === "cpu" ? `${value}m` : `${Math.round(value / 2 ** 20)}Mi`;
  screen.table(
    [
      { title: "WORKLOAD" },
      { title: "RESOURCE" },
      { title: "REQUESTED", right: true },
      { title: "USED", right: true },
      { title: "PODS", right: true },
    ],
    rightSizing
      .slice(0, 10)
      .map(({ namespace, workload, resource, requested, used, pods }) => [
        ...[`${workload.kind}/${namespace}/${workload.name}`, resource, amount(resource, requested)],
        ...[amount(resource, used), String(pods)],
      ]),
  );
}

function frozenLines({ nodes: { frozen } }: Plan): readonly string[] {
  if (frozen.length === 0) return [];
  const reasons = new Map<string, string[]>();
  for (const { node, reason } of frozen) reasons.set(reason, [...(reasons.get(reason) ?? []), node]);
  return [...reasons].map(([reason, names]) => {
    const shown = names.slice(0, 5).join(", ");
    return `${counted(names.length, "node")} left out (${reason}): ${shown}${names.length > 5 ? ", …" : ""}.`;
  });
}
