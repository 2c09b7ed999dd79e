import { Card, Chart, type ChartSeries, count, Empty, keyOf, Legend, numberText } from "@evenkeel/dashboard/browser";
import { useMemo } from "preact/hooks";
import { pendingOf, type QueuePoint, type Service } from "./service.ts";

/** Requests that waited for a pod, and requests in flight, over time. */
export function QueueChart({ shown, points }: { readonly shown: Service; readonly points: readonly QueuePoint[] }) {
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1000), [points]);
  const series = useMemo(() => seriesOf(points), [points]);
  const key = keyOf(shown.service);
  return (
    <Card
      title="Queue"
      aside={
        <Legend
          entries={[
            { label: "Waiting", ink: "accent" },
            { label: "In flight through the resolver", ink: "quiet", shape: "dashed" },
          ]}
        />
      }
    >
      {points.length < 2 ? (
        <Empty title="No counts yet">The chart starts with the second measurement.</Empty>
      ) : (
        <Chart
          label={`Requests of ${key} that waited over time, now ${numberText(pendingOf(shown))}`}
          {...{ times, series }}
          height={176}
        />
      )}
      {shown.resolvers.length > 1 && <Resolvers {...shown} />}
    </Card>
  );
}

/** The requests by replica of the resolver. */
function Resolvers({ resolvers }: Pick<Service, "resolvers">) {
  return (
    <table class="resolvers">
      <thead>
        <tr>
          <th>Replica</th>
          <th class="number">Waiting</th>
          <th class="number">In flight</th>
        </tr>
      </thead>
      <tbody>
        {resolvers.map(({ name, pending, inFlight }) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="number">{numberText(count(pending))}</td>
            <td class="number">{numberText(count(inFlight))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function seriesOf(points: readonly QueuePoint[]): readonly ChartSeries[] {
  return [
    {
      label: "Waiting",
      ink: "accent",
      shape: "step",
      filled: true,
      values: points.map(({ pending }) => count(pending)),
    },
    {
      label: "In flight",
      ink: "quiet",
      shape: "step",
      dashed: true,
      values: points.map(({ inFlight }) => count(inFlight)),
    },
  ];
}
