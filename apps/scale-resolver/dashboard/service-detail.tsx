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
  spanText,
  Stat,
  useDecisionsOf,
  useHistory,
  useNow,
} from "@evenkeel/dashboard/browser";
import { QueueChart } from "./queue-chart.tsx";
import { type History, lengthText, MEANINGS, milliseconds, type Service, stateWord, toneOf } from "./service.ts";
import { TimeLine } from "./time-line.tsx";
import { WakeBars } from "./wake-bars.tsx";
import { WhatIsNext } from "./what-is-next.tsx";

export interface ServiceDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly shown: Service;
}

/** One Service: its state, its history, and the next decision. */
export function ServiceDetail({ shown, ...page }: ServiceDetailProps) {
  const { service, state, since, pending, inFlight, lastWake, replicas, decidedAt } = shown;
  const { api, act } = page;
  const key = keyOf(service);
  const object = `ElastiService/${service.namespace}/${shown.elastiService}`;
  const stamp = [state, since, pending, inFlight, lastWake, replicas, decidedAt];
  const history = useHistory(key, stamp, (signal) => api.ask<History>("Resolver/History", { service }, signal));
  const decisions = useDecisionsOf(object, page);
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
          <NotLoaded what="history" loaded={history} />
        </div>
      )}
      <Conditions conditions={shown.conditions} neutral={["Asleep"]} />
      <LastDecisions {...page} {...{ object, decisions }} />
    </article>
  );
}

function Head({ shown, act }: Pick<ServiceDetailProps, "shown" | "act">) {
  const { service, state, paused, dryRun, target } = shown;
  const key = keyOf(service);
  const wake = {
    title: "Wake",
    consequence: `The workload of ${key} is scaled up now, as if a request had arrived.`,
    method: "Resolver/Wake",
    request: { service, reason: "requested on the dashboard" },
  };
  const pause = {
    title: "Pause",
    consequence: `${key} stays as it is, awake or asleep, until you resume it. Requests still wake it.`,
    method: "Resolver/Pause",
    request: { service },
  };
  const resume = {
    title: "Resume",
    consequence: `${key} can sleep again, from the next reconcile on.`,
    method: "Resolver/Resume",
    request: { service },
  };
  const actions = [...(stateWord(state) === "Zero" ? [wake] : []), paused ? resume : pause];
  return (
    <ObjectHead name={service} decided={shown} {...{ actions, act }}>
      <Badge tone={toneOf(state)}>{stateWord(state)}</Badge>
      {paused && <Badge tone="warn">Paused</Badge>}
      {dryRun && <Badge tone="quiet">Dry run</Badge>}
      <span class="quiet service-target">{target}</span>
    </ObjectHead>
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

/** While a replica does not report, the count of the others is a minimum. */
function waitingText({ pending, activityUnknown }: Service): string {
  const text = numberText(count(pending));
  if (!activityUnknown) return text;
  return text === "0" ? "Unknown" : `At least ${text}`;
}

function waitingNote({ inFlight, activityUnknown, activityGap }: Service): string {
  return activityUnknown ? activityGap || "not every replica reports" : `${numberText(count(inFlight))} in flight`;
}

function podsNote(pods: Service["pods"], replicas: number | undefined): string {
  const parts = [
    replicas === undefined ? "" : `${replicas} ${replicas === 1 ? "replica" : "replicas"} requested`,
    pods?.starting ? `${pods.starting} not ready` : "",
    pods?.leaving ? `${pods.leaving} terminating` : "",
  ];
  return parts.filter((part) => part !== "").join(", ") || "behind the Service";
}
