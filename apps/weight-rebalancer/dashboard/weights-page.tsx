import { Badge, count, Empty, numberText, ObjectsPage, type PageProps, shareText } from "@evenkeel/dashboard/browser";
import { stateOf, type Weight } from "./weight.ts";
import { WeightDetail } from "./weight-detail.tsx";

/** A list of all Rebalances, and the selected one in detail. */
export function WeightsPage({ query, ...page }: PageProps) {
  return (
    <ObjectsPage<Weight>
      api={page.api}
      query={query}
      kind="Rebalance"
      watch="Weights/Watch"
      field="weight"
      nameOf={({ rebalance }) => rebalance}
      empty={
        <Empty title="No Rebalances">
          Create one: <code>kubectl apply -f rebalance.yaml</code>
        </Empty>
      }
      entry={(weight) => <Entry {...weight} />}
      detail={(weight) => <WeightDetail {...page} weight={weight} />}
    />
  );
}

function Entry(weight: Weight) {
  const { metric, targetValue, targets } = weight;
  const [tone, word] = stateOf(weight);
  const [first] = targets;
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      <span class="entry-facts">
        {numberText(metric)} <span class="quiet">of {numberText(targetValue)}</span>
      </span>
      <span class="entry-facts number" title="weight and its share of the traffic">
        {numberText(count(first?.actual))} <span class="quiet">· {shareText(first?.share)}</span>
      </span>
    </>
  );
}
