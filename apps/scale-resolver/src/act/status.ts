import { type Condition, type Judgement, setConditions } from "@evenkeel/kube";
import type { Reason } from "../decide/reason.ts";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import type { Stage } from "../decide/state.ts";
import type { RouteRef, TargetRef } from "../binding.ts";
import type { ElastiServiceStatus, PortRecord } from "../elasti-service-resource.ts";
import { isSameTarget } from "./release/restore-workload.ts";
import { NOTHING_PAUSED, type Paused } from "./paused-scaled-objects.ts";

/** Reasons for which a service cannot be put to sleep, or woken, until somebody or something else changes. */
const FAULTS: ReadonlySet<string> = new Set<Reason>([
  "InvalidSpec",
  "TriggerUnknown",
  "NoResolver",
  "ActivityUnknown",
  "EndpointsUnknown",
  "ReplicasUnknown",
  "OriginalRuns",
  "Unsupported",
]);

/** Whether somebody should look at it. */
export function isBadNews({ reason }: { readonly reason: string }): boolean {
  return FAULTS.has(reason);
}

export interface TurnOutcome {
  readonly snapshot: ServiceSnapshot;
  readonly decision: { readonly reason: Reason; readonly message: string };
  readonly stage: Stage;
  readonly ports: readonly PortRecord[];
  /** The route that is switched beside the endpoints. */
  readonly route: RouteRef | null;
  /** The workload that is looked after, or the one before it for as long as that is not handed back. */
  readonly target: TargetRef;
  /** What the workload is set to now. */
  readonly replicas: number | null;
  /** The ScaledObject that is paused. */
  readonly paused: Paused;
  /** What went wrong when the decision was carried out. */
  readonly failure: string | undefined;
  /** The last wake or traffic. */
  readonly idleSince: number | null;
  /** How long the last wake took; null where this process saw none. */
  readonly lastWakeMs: number | null;
  /** Why rules of `probeResponse` match nothing, a sentence each. */
  readonly refusedProbes: readonly string[];
}

/** The status after a turn: the very same object if nothing in it changed, so that nothing need be written. */
export function statusAfter(
  before: ElastiServiceStatus | undefined,
  turn: TurnOutcome,
  now: number,
): ElastiServiceStatus {
  const { snapshot, stage, ports, route, lastWakeMs } = turn;
  const conditions = setConditions(before?.conditions ?? [], judgements(turn, before?.conditions), now);
  const status = updated(
    before,
    {
      observedGeneration: snapshot.elastiService.generation,
      state: stage.state,
      since: time(stage.since),
      ...workloadFields(before, turn),
      ...pausedField(before, turn.paused),
      service: snapshot.service,
      ports: samePorts(before?.ports, ports) ? (before?.ports ?? ports) : ports,
      ...(isRecorded(before, turn) ? {} : recordOf(turn)),
      ...(lastWakeMs === null ? {} : { lastWakeMilliseconds: lastWakeMs }),
      ...routeField(before, stage.state === "Serve" ? null : route),
      mode: stage.state === "Serve" ? "serve" : "proxy",
      conditions,
    },
    now,
  );
  return status === before ? before : { ...status, ...recordOf(turn) };
}

/** `lastScaledUpTime` is what the next leader counts the cooldown from. */
function recordOf({ idleSince }: TurnOutcome): Pick<ElastiServiceStatus, "lastScaledUpTime"> {
  return idleSince === null ? {} : { lastScaledUpTime: time(idleSince) };
}

/** Traffic moves it on with every look. On record it may lag behind by a tenth of the cooldown, unless something else is written anyhow. */
function isRecorded(before: ElastiServiceStatus | undefined, { idleSince, snapshot }: TurnOutcome): boolean {
  const lag = (idleSince ?? 0) - Date.parse(before?.lastScaledUpTime ?? "");
  return lag >= 0 && lag < Math.max(1000, snapshot.policy.cooldown / 10);
}

/** Replicas that were not read now are those of before, unless they were another workload's. */
function workloadFields(
  before: ElastiServiceStatus | undefined,
  { target, replicas }: TurnOutcome,
): Pick<ElastiServiceStatus, "scaleTargetRef" | "replicas"> {
  const known = before?.scaleTargetRef;
  if (known && isSameTarget(known, target)) {
    return { scaleTargetRef: known, ...(replicas === null ? {} : { replicas }) };
  }
  const isForeign = known !== undefined && before?.replicas !== undefined;
  const unread = isForeign ? { replicas: null as unknown as number } : {};
  return { scaleTargetRef: target, ...(replicas === null ? unread : { replicas }) };
}

function pausedField(
  before: ElastiServiceStatus | undefined,
  paused: Paused,
): Pick<ElastiServiceStatus, "pausedScaledObject"> {
  if (paused !== null) return { pausedScaledObject: paused };
  return before?.pausedScaledObject === undefined ? {} : NOTHING_PAUSED;
}

/** The same object where it is the same route, since a status is compared field by field. Null takes it out of what is stored. */
function routeField(before: ElastiServiceStatus | undefined, route: RouteRef | null): { readonly route?: RouteRef } {
  const known = before?.route;
  if (known && route && known.type === route.type && known.name === route.name) return { route: known };
  if (route) return { route };
  return known ? { route: null as unknown as RouteRef } : {};
}

/** The status of an ElastiService that is not worked on: its spec is wrong, another has its Service, or it is to be left alone. */
export function statusOfIdle(
  before: ElastiServiceStatus | undefined,
  about: { readonly reason: string; readonly message: string; readonly generation: number; readonly selected?: number },
  now: number,
): ElastiServiceStatus {
  const { reason, message, generation, selected } = about;
  const status = selected !== undefined ? "True" : reason === "Paused" ? "Unknown" : "False";
  const judged: Judgement = {
    type: "Ready",
    status,
    reason,
    message: message.slice(0, 2000),
    observedGeneration: generation,
  };
  const conditions = setConditions(before?.conditions ?? [], [judged], now);
  const rest = selected === undefined ? {} : { selected };
  return updated(before, { observedGeneration: generation, ...rest, conditions }, now);
}

function judgements(
  { snapshot, decision, stage, failure, refusedProbes }: TurnOutcome,
  before: readonly Condition[] = [],
): readonly Judgement[] {
  const judge = (type: string, holds: boolean | undefined, reason: string, message: string): Judgement => ({
    type,
    status: holds === undefined ? "Unknown" : holds ? "True" : "False",
    reason,
    message: message.slice(0, 2000),
    observedGeneration: snapshot.elastiService.generation,
  });
  const { reason, message } = decision;
  const { triggers } = snapshot;
  const silent = triggers.find(({ verdict }) => verdict === "unknown");
  const wasJudged = (condition: string) => before.some(({ type }) => type === condition);
  return [
    failure !== undefined
      ? judge("Ready", false, "Failed", failure)
      : snapshot.specFault !== undefined
        ? judge("Ready", false, "InvalidSpec", snapshot.specFault)
        : judge("Ready", reason === "Paused" ? undefined : !isBadNews(decision), reason, message),
    judge("Asleep", stage.state === "Zero", stage.state, SENTENCES[stage.state]),
    ...(triggers.length === 0 && !wasJudged(TRIGGERS)
      ? []
      : [
          silent
            ? judge(TRIGGERS, false, "TriggerUnknown", `${silent.trigger}: ${silent.message}`)
            : triggers.length > 0
              ? judge(TRIGGERS, true, "Read", "Every trigger has answered")
              : judge(TRIGGERS, true, "NoTriggers", "There are no triggers any more"),
        ]),
    // Where every rule was used from the first, nothing need be said.
    ...(refusedProbes.length === 0 && !wasJudged(PROBES)
      ? []
      : [
          refusedProbes.length > 0
            ? judge(PROBES, false, "PatternRefused", refusedProbes.join("; "))
            : judge(PROBES, true, "Used", "Every rule of probeResponse is used"),
        ]),
  ];
}

const TRIGGERS = "TriggersAvailable";
const PROBES = "ProbeRulesUsed";

const SENTENCES: Readonly<Record<Stage["state"], string>> = {
  Serve: "Requests go straight to the pods",
  Guard: "Requests pass the resolver",
  Zero: "There are no pods; the next request wakes the workload",
  Wake: "Requests wait for a pod",
};

/** `lastReconciledTime` says when the status was last written, and does not count as a change. */
function updated(
  before: ElastiServiceStatus | undefined,
  changes: ElastiServiceStatus & { readonly conditions: readonly Condition[] },
  now: number,
): ElastiServiceStatus {
  const same =
    before && Object.entries(changes).every(([field, value]) => before[field as keyof typeof before] === value);
  return same ? before : { ...before, ...changes, lastReconciledTime: time(now) };
}

function samePorts(before: readonly PortRecord[] | undefined, ports: readonly PortRecord[]): boolean {
  const isKnown = ({ name, port }: PortRecord) => before?.some((one) => one.name === name && one.port === port);
  return before?.length === ports.length && ports.every(isKnown);
}

/** To the second, as the API server writes times. */
function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
