import {
  Badge,
  Conditions,
  count,
  keyOf,
  LastDecisions,
  NotLoaded,
  numberText,
  ObjectHead,
  type PageProps,
  shareText,
  Stat,
  useDecisionsOf,
  useHistory,
} from "@evenkeel/dashboard/browser";
import { ShareBars } from "./share-bars.tsx";
import { placeOf, type Point, stateOf, type Weight } from "./weight.ts";
import { WeightCharts } from "./weight-charts.tsx";
import { WhatIf } from "./what-if.tsx";

export interface WeightDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly weight: Weight;
}

/** One Rebalance: its state, its history, and a what-if. */
export function WeightDetail({ weight, ...page }: WeightDetailProps) {
  const { rebalance, decidedAt, metric, desired, targets } = weight;
  const { api, act } = page;
  const key = keyOf(rebalance);
  const object = `Rebalance/${key}`;
  const history = useHistory(key, [decidedAt, metric, desired, targets], (signal) =>
    api.ask<{ readonly points: readonly Point[] }>("Weights/History", { rebalance }, signal),
  );
  const decisions = useDecisionsOf(object, page);
  const points = history.data?.points ?? [];

  return (
    <article class="weight-detail" aria-label={key}>
      <Head {...{ weight, act }} />
      <Facts weight={weight} />
      {history.data ? (
        <WeightCharts {...{ weight, points, decisions }} />
      ) : (
        <div class="card">
          <NotLoaded what="history" loaded={history} />
        </div>
      )}
      <div class="pair">
        <ShareBars {...{ weight, points }} />
        <WhatIf {...{ api, weight, points }} />
      </div>
      <Conditions conditions={weight.conditions} />
      <LastDecisions {...page} {...{ object, decisions }} />
    </article>
  );
}

function Head({ weight, act }: Pick<WeightDetailProps, "weight" | "act">) {
  const { rebalance, paused, dryRun } = weight;
  const key = keyOf(rebalance);
  const [tone, word] = stateOf(weight);
  const pause = {
    title: "Pause",
    consequence: `The weight of ${key} stays as it is, whatever the metric is, until you resume it.`,
    method: "Weights/Pause",
    request: { rebalance },
  };
  const resume = {
    title: "Resume",
    consequence: `The weight of ${key} follows its metric again, from the next reconcile on.`,
    method: "Weights/Resume",
    request: { rebalance },
  };
  return (
    <ObjectHead name={rebalance} decided={weight} actions={[paused ? resume : pause]} act={act}>
      <Badge tone={tone}>{word}</Badge>
      {dryRun && word !== "Dry run" && <Badge tone="quiet">Dry run</Badge>}
    </ObjectHead>
  );
}

function Facts({ weight }: { readonly weight: Weight }) {
  const { metric, targetValue, targets, baseValue, minimum, maximum } = weight;
  const desired = count(weight.desired);
  const [first] = targets;
  const actual = count(first?.actual);
  const apart = desired !== null && actual !== null && desired !== actual;
  const place = placeOf(weight);
  const times = metric !== undefined && targetValue > 0 ? `${(metric / targetValue).toFixed(2)} × target` : "target";
  return (
    <div class="stats">
      <Stat
        label="Metric"
        value={metric === undefined ? "Unknown" : numberText(metric)}
        note={`${times} ${numberText(targetValue)}`}
        tone={metric === undefined ? "warn" : undefined}
      />
      <Stat
        label="Weight"
        value={numberText(actual)}
        note={apart ? `${numberText(desired)} was decided` : `between ${minimum} and ${maximum}`}
        tone={apart ? "warn" : undefined}
      />
      <Stat label="Share of the traffic" value={shareText(first?.share)} note={`the base has weight ${baseValue}`} />
      <Stat
        label="Target"
        value={<span title={targets.map(({ name }) => name).join("\n")}>{place.title}</span>}
        note={place.where}
      />
    </div>
  );
}
