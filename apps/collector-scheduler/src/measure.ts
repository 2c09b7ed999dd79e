import type { Metrics } from "@evenkeel/metrics";
import { findingsOf, type Reconciled } from "./act/findings.ts";
import type { Assignments } from "./decide/assignments.ts";
import type { FleetPlan } from "./decide/plan.ts";
import type { metrics } from "./metrics.ts";
import { loadRange } from "./serve/fleet-view.ts";

/** Counts what was recorded: moves, and how long hand-overs took that ended. */
export function measureMoves(
  table: Metrics<typeof metrics>,
  moves: FleetPlan["moves"],
  before: Assignments,
  after: Assignments,
  now: number,
): void {
  for (const { reason } of moves) table.moves.inc({ reason });
  for (const [key, { from, since }] of before.exceptions) {
    const isEnded = from !== undefined && after.exceptions.get(key)?.from === undefined;
    if (isEnded) table.handOverSeconds.observe({}, (now - since) / 1000);
  }
}

/** Sets the gauges of a CollectorLoadBalancer after a reconcile. What is not known is absent. */
export function measure(table: Metrics<typeof metrics>, reconciled: Reconciled): void {
  const { snapshot, plan, fleet, now } = reconciled;
  const { namespace, name, members, targetCount, collectors } = snapshot;
  const of = { namespace, name };
  const { maxOverMean, minOverMean } = loadRange(snapshot);
  const assigned = members.reduce((sum, { targets }) => sum + targets, 0);
  const ages = fleet.catalogue.sources.flatMap(({ health: { fault, goodAt } }) =>
    fault === undefined || goodAt === undefined ? [] : [now - goodAt],
  );
  table.targets.set(of, targetCount ?? NaN);
  table.unassigned.set(of, targetCount === null ? NaN : Math.max(0, targetCount - assigned));
  table.allocatable.set(of, members.length);
  table.discovered.set(of, collectors.length);
  table.maxOverMean.set(of, maxOverMean ?? NaN);
  table.minOverMean.set(of, minOverMean ?? NaN);
  table.handingOver.set(of, plan.handingOver);
  table.sourceAge.set(of, Math.max(0, ...ages) / 1000);
  table.ready.set(of, findingsOf(reconciled)["Ready"]?.holds === true ? 1 : 0);
}
