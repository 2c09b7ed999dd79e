import {
  Badge,
  Card,
  Conditions,
  type Decision,
  DecisionTable,
  Empty,
  Fault,
  Loading,
  mergeDecisions,
  numberText,
  objectKey,
  type PageProps,
  routeLink,
  shareText,
  Stat,
  Time,
  useLoaded,
} from "@evenkeel/dashboard/browser";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ShareBars } from "./share-bars.tsx";
import { count, keyOf, placeOf, type Point, stateOf, type Weight } from "./weight.ts";
import { WeightCharts } from "./weight-charts.tsx";
import { WhatIf } from "./what-if.tsx";

/** How often the history is asked for when nothing changes, and at most when much does; milliseconds. */
const INTERVAL = 30_000;
const AT_MOST = 1000;

export interface WeightDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly weight: Weight;
}

/** One Rebalance: where it stands, how it came there, and what would be if. */
export function WeightDetail({ api, act, service, decisions, weight }: WeightDetailProps) {
  const { rebalance } = weight;
  const key = keyOf(rebalance);
  const object = `Rebalance/${key}`;
  const history = useLoaded(
    key,
    (signal) => api.ask<{ readonly points: readonly Point[] }>("Weights/History", { rebalance }, signal),
    INTERVAL,
  );
  useReloadOnChange(weight, history.reload);
  const listed = useLoaded(key, (signal) =>
    api.get<{ readonly decisions: readonly Decision[] }>("Decisions/List", { object, limit: 200 }, signal),
  );
  const own = useMemo(() => {
    const live = decisions?.filter((decision) => objectKey(decision.object) === object) ?? [];
    return mergeDecisions(live, listed.data?.decisions.toReversed() ?? []);
  }, [decisions, listed.data, object]);
  const points = history.data?.points ?? [];

  return (
    <article class="weight-detail" aria-label={key}>
      <Head {...{ weight, act }} />
      <Facts weight={weight} />
      {history.data ? (
        <WeightCharts {...{ weight, points }} decisions={own} />
      ) : (
        <div class="card">
          {history.phase === "failed" ? (
            <Fault what="The history" fault={history.fault} retry={history.reload} />
          ) : (
            <Loading what="the history" />
          )}
        </div>
      )}
      <div class="pair">
        <ShareBars {...{ weight, points }} />
        <WhatIf {...{ api, weight, points }} />
      </div>
      <Conditions conditions={weight.conditions} />
      <Card title="Last decisions" aside={<a href={routeLink("decisions", { text: object })}>All of this one</a>}>
        {own.length === 0 ? (
          <Empty title="No decision yet" />
        ) : (
          <DecisionTable {...{ api, service }} decisions={own.slice(0, 6)} withObject={false} />
        )}
      </Card>
    </article>
  );
}

/** A change is seen in the history at once; many changes in a row, once in a while. */
function useReloadOnChange(weight: Weight, reload: () => void): void {
  const stamp = JSON.stringify([weight.decidedAt, weight.metric, weight.desired, weight.targets]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(reload);
  latest.current = reload;
  const last = useRef(stamp);
  useEffect(() => {
    if (last.current === stamp) return;
    last.current = stamp;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, AT_MOST);
  }, [stamp]);
  useEffect(() => () => clearTimeout(timer.current), []);
}

function Head({ weight, act }: Pick<WeightDetailProps, "weight" | "act">) {
  const { rebalance, reason, message, paused, dryRun, decidedAt } = weight;
  const key = keyOf(rebalance);
  const [tone, word] = stateOf(weight);
  const pause = {
    title: "Pause",
    consequence: `The weight of ${key} stays as it is, whatever the metric does, until somebody resumes it.`,
    method: "Weights/Pause",
    request: { rebalance },
  };
  const resume = {
    title: "Resume",
    consequence: `The weight of ${key} follows its metric again, from the next turn on.`,
    method: "Weights/Resume",
    request: { rebalance },
  };
  return (
    <header class="weight-head">
      <div class="weight-title">
        <h2>
          <span class="quiet">{rebalance.namespace}/</span>
          {rebalance.name}
        </h2>
        <Badge tone={tone}>{word}</Badge>
        {dryRun && word !== "Dry run" && <Badge tone="quiet">Dry run</Badge>}
        <button type="button" onClick={() => void act(paused ? resume : pause)}>
          {paused ? "Resume" : "Pause"}
        </button>
      </div>
      <p class="weight-message">
        {reason !== "" && <Badge tone="accent">{reason}</Badge>} {message || "Nothing was decided yet."}
        {decidedAt !== undefined && (
          <span class="quiet">
            {" "}
            <Time at={decidedAt} />
          </span>
        )}
      </p>
    </header>
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
      <Stat label="Share of the traffic" value={shareText(first?.share)} note={`beside a base of ${baseValue}`} />
      <Stat
        label="Target"
        value={<span title={targets.map(({ name }) => name).join("\n")}>{place.title}</span>}
        note={place.where}
      />
    </div>
  );
}
