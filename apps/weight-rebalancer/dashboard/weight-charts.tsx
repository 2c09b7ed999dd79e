import {
  Card,
  Chart,
  type ChartSeries,
  count,
  type Decision,
  Empty,
  isChange,
  keyOf,
  Legend,
  type Marker,
  numberText,
  valueText,
} from "@evenkeel/dashboard/browser";
import { useMemo } from "preact/hooks";
import type { Point, Weight } from "./weight.ts";

export interface WeightChartsProps {
  readonly weight: Weight;
  readonly points: readonly Point[];
  readonly decisions: readonly Decision[];
}

/** The metric and the weight over the same time, one chart above the other. */
export function WeightCharts({ weight, points, decisions }: WeightChartsProps) {
  const key = keyOf(weight.rebalance);
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const metric = useMemo(() => metricSeries(points), [points]);
  const weights = useMemo(() => weightSeries(points), [points]);
  const markers = useMemo(() => markersOf(decisions, times), [decisions, times]);
  if (points.length < 2) {
    return (
      <Card title="Over time">
        <Empty title="Not enough data yet">The charts start with the second reconcile of the leader.</Empty>
      </Card>
    );
  }
  return (
    <>
      <Card
        title="Metric against target"
        aside={
          <Legend
            entries={[
              { label: "Metric", ink: "accent" },
              { label: "Target", ink: "quiet", shape: "dashed" },
            ]}
          />
        }
      >
        <Chart
          label={`Metric of ${key} over time, now ${numberText(weight.metric)} with a target of ${weight.targetValue}`}
          {...{ times }}
          series={metric}
          together={key}
          height={168}
        />
      </Card>
      <Card
        title="Weight"
        aside={
          <Legend
            entries={[
              { label: "In force", ink: "accent" },
              { label: "Decided", ink: "quiet", shape: "dashed" },
              { label: "Change, with its reason", ink: "accent", shape: "marker" },
            ]}
          />
        }
      >
        <Chart
          label={`Weight of ${key} over time with ${markers.length} changes; the arrow keys select the next one`}
          {...{ times, markers }}
          series={weights}
          together={key}
          height={184}
        />
      </Card>
    </>
  );
}

function metricSeries(points: readonly Point[]): readonly ChartSeries[] {
  return [
    {
      label: "Metric",
      ink: "accent",
      shape: "line",
      filled: true,
      values: points.map(({ metric }) => metric ?? null),
    },
    { label: "Target", ink: "quiet", shape: "step", dashed: true, values: points.map((point) => point.targetValue) },
  ];
}

/** The decided weight is drawn where another one is in force, until it is in force itself. */
function weightSeries(points: readonly Point[]): readonly ChartSeries[] {
  const apart = points.map(({ desired, actual }) => desired !== actual);
  const decided = points.map(({ desired }, index) => (apart[index] || apart[index - 1] ? count(desired) : null));
  const inForce = points.map(({ actual }) => count(actual));
  return [
    { label: "Decided", ink: "quiet", shape: "step", dashed: true, values: decided },
    { label: "In force", ink: "accent", shape: "step", filled: true, values: inForce },
  ];
}

/** Changes within the drawn time range, the oldest first. */
function markersOf(decisions: readonly Decision[], times: readonly number[]): readonly Marker[] {
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  return decisions.toReversed().flatMap((decision) => {
    const { id, before, after, reason, message, dryRun } = decision;
    const at = Date.parse(decision.at) / 1000;
    if (!isChange(decision) || typeof after !== "number" || at < from || at > to + 1) return [];
    const title = `${valueText(before)} → ${valueText(after)} · ${reason}${dryRun ? " (dry run)" : ""}`;
    return [{ id, at, value: after, title, text: message }];
  });
}
