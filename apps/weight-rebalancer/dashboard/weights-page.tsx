import { Empty, Loading, type PageProps, useWatched } from "@evenkeel/dashboard/browser";
import { keyOf, type Weight, withEvent } from "./weight.ts";
import { WeightDetail } from "./weight-detail.tsx";
import { WeightList } from "./weight-list.tsx";

/** Every Rebalance in a list, and the chosen one in full. */
export function WeightsPage({ api, act, service, decisions, query }: PageProps) {
  const weights = useWatched<Weight>(api, "Weights/Watch", withEvent);
  if (!weights) return <Loading what="weights" />;
  const chosen = weights.get(query["rebalance"] ?? "") ?? weights.values().next().value;
  if (!chosen) {
    return (
      <Empty title="There is no Rebalance">
        Apply one and it shows up here: <code>kubectl apply -f rebalance.yaml</code>
      </Empty>
    );
  }
  return (
    <div class={weights.size > 1 ? "weights-page" : ""}>
      {weights.size > 1 && <WeightList weights={[...weights.values()]} chosen={chosen} />}
      <WeightDetail key={keyOf(chosen.rebalance)} {...{ api, act, service, decisions }} weight={chosen} />
    </div>
  );
}
