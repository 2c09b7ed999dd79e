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
  spanText,
  Stat,
  Time,
  useLoaded,
  useNow,
} from "@evenkeel/dashboard/browser";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { QueueChart } from "./queue-chart.tsx";
import {
  count,
  type History,
  keyOf,
  lengthText,
  MEANINGS,
  milliseconds,
  type Service,
  stateWord,
  toneOf,
} from "./service.ts";
import { TimeLine } from "./time-line.tsx";
import { WakeBars } from "./wake-bars.tsx";
import { WhatIsNext } from "./what-is-next.tsx";

/** How often the history is asked for when nothing changes, and at most when much does; milliseconds. */
const INTERVAL = 30_000;
const AT_MOST = 1000;

export interface ServiceDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly shown: Service;
}

/** One Service: where it stands, how it came there, and what is next. */
export function ServiceDetail({ api, act, service, decisions, shown }: ServiceDetailProps) {
  const key = keyOf(shown.service);
  const object = `ElastiService/${shown.service.namespace}/${shown.elastiService}`;
  const history = useLoaded(
    key,
    (signal) => api.ask<History>("Resolver/History", { service: shown.service }, signal),
    INTERVAL,
  );
  useReloadOnChange(shown, history.reload);
  const listed = useLoaded(object, (signal) =>
    api.get<{ readonly decisions: readonly Decision[] }>("Decisions/List", { object, limit: 200 }, signal),
  );
  const own = useMemo(() => {
    const live = decisions?.filter((decision) => objectKey(decision.object) === object) ?? [];
    return mergeDecisions(live, listed.data?.decisions.toReversed() ?? []);
  }, [decisions, listed.data, object]);

  return (
    <article class="service-detail" aria-label={key}>
      <Head {...{ shown, act }} />
      <Facts shown={shown} />
      {history.data ? (
        <>
          <TimeLine changes={history.data.changes} name={key} />
          <QueueChart {...{ shown }} points={history.data.queue} />
          <div class="pair">
            <WakeBars wakes={history.data.wakes} />
            <WhatIsNext {...{ api, shown }} />
          </div>
        </>
      ) : (
        <div class="card">
          {history.phase === "failed" ? (
            <Fault what="The history" fault={history.fault} retry={history.reload} />
          ) : (
            <Loading what="the history" />
          )}
        </div>
      )}
      <Conditions conditions={shown.conditions} neutral={["Asleep"]} />
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
function useReloadOnChange(shown: Service, reload: () => void): void {
  const { state, since, pending, inFlight, lastWake, replicas, decidedAt } = shown;
  const stamp = JSON.stringify([state, since, pending, inFlight, lastWake, replicas, decidedAt]);
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

function Head({ shown, act }: Pick<ServiceDetailProps, "shown" | "act">) {
  const { service, state, reason, message, paused, dryRun, decidedAt, target } = shown;
  const key = keyOf(service);
  const wake = {
    title: "Wake",
    consequence: `The workload of ${key} is scaled up now, as if a request had come.`,
    method: "Resolver/Wake",
    request: { service, reason: "asked for on the dashboard" },
  };
  const pause = {
    title: "Pause",
    consequence: `${key} stays as it is, awake or asleep, until somebody resumes it. Requests still wake it.`,
    method: "Resolver/Pause",
    request: { service },
  };
  const resume = {
    title: "Resume",
    consequence: `${key} may be put to sleep again, from the next turn on.`,
    method: "Resolver/Resume",
    request: { service },
  };
  return (
    <header class="service-head">
      <div class="service-title">
        <h2>
          <span class="quiet">{service.namespace}/</span>
          {service.name}
        </h2>
        <Badge tone={toneOf(state)}>{stateWord(state)}</Badge>
        {paused && <Badge tone="warn">Paused</Badge>}
        {dryRun && <Badge tone="quiet">Dry run</Badge>}
        <span class="quiet service-target">{target}</span>
        <span class="service-acts">
          {stateWord(state) === "Zero" && (
            <button type="button" onClick={() => void act(wake)}>
              Wake
            </button>
          )}
          <button type="button" onClick={() => void act(paused ? resume : pause)}>
            {paused ? "Resume" : "Pause"}
          </button>
        </span>
      </div>
      <p class="service-message">
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

function Facts({ shown }: { readonly shown: Service }) {
  const { state, since, replicas, pods, activityUnknown, lastWake } = shown;
  const now = useNow(1000);
  const wake = milliseconds(lastWake);
  return (
    <div class="stats">
      <Stat
        label="State"
        value={stateWord(state)}
        note={
          <>
            {since !== undefined && <>for {spanText(now - Date.parse(since))}. </>}
            {MEANINGS[stateWord(state)]}.
          </>
        }
      />
      <Stat
        label="Waiting"
        value={waitingText(shown)}
        note={waitingNote(shown)}
        tone={activityUnknown ? "warn" : undefined}
      />
      <Stat
        label="Ready pods"
        value={pods ? numberText(pods.ready) : "Unknown"}
        note={podsNote(pods, replicas)}
        tone={pods ? undefined : "warn"}
      />
      <Stat
        label="Last wake"
        value={wake === null ? "–" : lengthText(wake)}
        note={wake === null ? "none was seen" : "from the first request"}
      />
    </div>
  );
}

/** While somebody is not heard of, what the others have is the least that it is. */
function waitingText({ pending, activityUnknown, resolvers }: Service): string {
  if (!activityUnknown) return numberText(count(pending));
  return resolvers.length === 0 ? "Unknown" : `At least ${numberText(count(pending))}`;
}

function waitingNote({ inFlight, activityUnknown, activityGap }: Service): string {
  return activityUnknown ? activityGap || "not every resolver answers" : `${numberText(count(inFlight))} under way`;
}

function podsNote(pods: Service["pods"], replicas: number | undefined): string {
  const parts = [
    replicas === undefined ? "" : `${replicas} ${replicas === 1 ? "replica" : "replicas"} asked for`,
    pods?.starting ? `${pods.starting} not ready` : "",
    pods?.leaving ? `${pods.leaving} leaving` : "",
  ];
  return parts.filter((part) => part !== "").join(", ") || "behind the Service";
}
