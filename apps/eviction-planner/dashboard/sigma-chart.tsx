import { Card, Chart, type ChartSeries, Empty, Legend, type PageProps, useHistory } from "@evenkeel/dashboard/browser";
import { useMemo } from "preact/hooks";
import type { History, HistoryPoint, Policy } from "./plan.ts";

const NO_POINTS: readonly HistoryPoint[] = [];

/** σ over time, with what each plan foretold and the bound that no plan beats. */
export function SigmaChart({ policy, api }: Pick<PageProps, "api"> & { readonly policy: Policy }) {
  const { name } = policy.policy;
  const history = useHistory(name, [policy.decidedAt, policy.plan?.sigma], (signal) =>
    api.get<History>("Evictions/History", { policy: name }, signal),
  );
  const points = history.data?.points ?? NO_POINTS;
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const series = useMemo(() => seriesOf(points), [points]);
  if (points.length < 2) {
    return (
      <Card title="σ over time">
        <Empty title="Not enough data yet">The chart starts with the second plan of the leader.</Empty>
      </Card>
    );
  }
  return (
    <Card
      title="σ over time"
      aside={
        <Legend
          entries={[
            { label: "σ", ink: "accent" },
            { label: "Foretold", ink: "quiet" },
            { label: "Bound", ink: "quiet", shape: "dashed" },
          ]}
        />
      }
    >
      <Chart
        label={`σ of ${name} over time, with forecast and bound`}
        {...{ times, series }}
        together={name}
        height={168}
      />
    </Card>
  );
}

function seriesOf(points: readonly HistoryPoint[]): readonly ChartSeries[] {
  return [
    { label: "σ", ink: "accent", shape: "line", filled: true, values: points.map(({ sigma }) => sigma) },
    { label: "Foretold", ink: "quiet", shape: "step", values: points.map(({ predicted }) => predicted) },
    { label: "Bound", ink: "quiet", shape: "step", dashed: true, values: points.map(({ lowerBound }) => lowerBound) },
  ];
}
