import { Empty, Loading, type PageProps, useStream } from "@evenkeel/dashboard/browser";
import { useRef, useState } from "preact/hooks";
import { type WatchEvent, type Weight, withEvent } from "./weight.ts";
import { WeightDetail } from "./weight-detail.tsx";
import { WeightList } from "./weight-list.tsx";

/** Every Rebalance in a list, and the chosen one in full. */
export function WeightsPage({ api, act, service, decisions, query }: PageProps) {
  const [weights, setWeights] = useState<ReadonlyMap<string, Weight>>();
  // A new connection tells everything again: what it does not tell is gone.
  const anew = useRef(true);
  useStream<WatchEvent>(api.address("Weights/Watch"), {
    opened: () => {
      anew.current = true;
      setWeights((known) => known ?? new Map());
    },
    message: (event) => {
      const afresh = anew.current;
      anew.current = false;
      setWeights((known) => withEvent(afresh ? new Map() : (known ?? new Map()), event));
    },
  });

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
      <WeightDetail
        key={`${chosen.rebalance.namespace}/${chosen.rebalance.name}`}
        {...{ api, act, service, decisions }}
        weight={chosen}
      />
    </div>
  );
}
