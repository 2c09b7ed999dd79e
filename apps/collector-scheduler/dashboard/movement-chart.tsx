import { Card, Chart, type ChartSeries, Empty, Legend } from "@evenkeel/dashboard/browser";
import { useMemo } from "preact/hooks";
import type { Shares } from "./fleet.ts";

/** How many targets moved in each minute, and how level the collectors were. */
export function MovementChart({ name, shares: { movement } }: { readonly name: string; readonly shares: Shares }) {
  const times = useMemo(() => movement.map(({ at }) => at / 1000), [movement]);
  const moved = useMemo(() => movedSeries(movement), [movement]);
  const levels = useMemo(() => levelSeries(movement), [movement]);
  const sum = movement.reduce((all, point) => all + point.moved, 0);
  if (movement.length < 2) {
    return (
      <Card title="Movement">
        <Empty title="Not enough data yet">The charts start with the second minute of the replica that leads.</Empty>
      </Card>
    );
  }
  return (
    <>
      <Card title="Movement" aside={<Legend entries={[{ label: "Targets moved in a minute", ink: "accent" }]} />}>
        <Chart
          label={`Targets of ${name} that moved, minute by minute: ${sum} in ${movement.length} minutes`}
          {...{ times, series: moved, together: name, height: 140 }}
        />
      </Card>
      <Card
        title="Load over the mean"
        aside={
          <Legend
            entries={[
              { label: "Most loaded", ink: "accent" },
              { label: "Least loaded", ink: "quiet" },
            ]}
          />
        }
      >
        <Chart
          label={`Largest and smallest load of a collector of ${name} over the mean`}
          {...{ times, series: levels, together: name, height: 140 }}
        />
      </Card>
    </>
  );
}

function movedSeries(movement: Shares["movement"]): readonly ChartSeries[] {
  return [{ label: "Moved", ink: "accent", shape: "step", filled: true, values: movement.map((point) => point.moved) }];
}

function levelSeries(movement: Shares["movement"]): readonly ChartSeries[] {
  return [
    { label: "Most loaded", ink: "accent", shape: "line", values: movement.map(({ maxOverMean }) => maxOverMean) },
    { label: "Least loaded", ink: "quiet", shape: "line", values: movement.map(({ minOverMean }) => minOverMean) },
  ];
}
