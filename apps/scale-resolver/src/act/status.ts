import { isDeepStrictEqual } from "node:util";
import { type Condition, judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
import type { Reason } from "../decide/reason.ts";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import type { Stage } from "../decide/state.ts";
import type { RouteRef, TargetRef } from "../binding.ts";
import { type PortRecord, RELEASE, type StoredElastiService } from "../elasti-service-resource.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { isSameTarget } from "./release/restore-workload.ts";
import type { PodStop } from "../observe/targets.ts";
import type { Paused } from "./paused-scaled-objects.ts";

/** Reasons for which a service cannot be scaled to 0 or woken until a user or another system changes something. */
const FAULTS: ReadonlySet<string> = new Set<Reason>([
  "InvalidSpec",
  "TriggerUnknown",
  "NoResolver",
  "ActivityUnknown",
  "EndpointsUnknown",
  "ReplicasUnknown",
  "OriginalRuns",
  "Unsupported",
  "TargetNotFound",
]);

/** Whether a decision needs attention. */
export function needsAttention({ reason }: { readonly reason: string }): boolean {
  return FAULTS.has(reason);
}

export interface ReconcileOutcome {
  readonly snapshot: ServiceSnapshot;
  readonly decision: { readonly reason: Reason; readonly message: string };
  readonly stage: Stage;
  readonly ports: readonly PortRecord[];
  /** The route that is redirected in addition to the endpoints. */
  readonly route: RouteRef | null;
  /** The managed workload, or the former one until it is restored. */
  readonly target: TargetRef;
  /** The current replicas of the workload. */
  readonly replicas: number | null;
  /** The ScaledObject that is paused. */
  readonly paused: Paused;
  /** The ScaledObject that the spec names, or a former one that may not scale to zero yet; empty if there is none. */
  readonly scaledObject: string;
  /** Why carrying out the decision failed. */
  readonly failure: string | undefined;
  /** Time of the last wake or traffic. */
  readonly idleSince: number | null;
  /** Duration of the last wake; null if this process saw none. */
  readonly lastWakeMs: number | null;
  /** Why rules of `probeResponse` match nothing, one sentence each. */
  readonly refusedProbes: readonly string[];
  /** Whether the spec has triggers. They are not read while no pod is ready. */
  readonly hasTriggers: boolean;
  /** Entries of `wakePorts` that are not a port of the Service. */
  readonly unknownWakePorts: readonly (string | number)[];
  /** How the workload's pods stop; null if not known. */
  readonly stop: PodStop | null;
  /** Why the autoscaler would undo a wake; null if it would not, or if that is not known. */
  readonly autoscalerFault: string | null;
  /** Whether the autoscaler is a ScaledObject that this program created. */
  readonly isScaledObjectMade: boolean;
}

/** The status after a reconcile. Returns `before` itself if nothing changed, so that nothing is written. */
export function statusAfter(
  before: ElastiServiceStatus | undefined,
  outcome: ReconcileOutcome,
  now: number,
): Nulled<ElastiServiceStatus> {
  const { snapshot, stage, target, replicas, lastWakeMs } = outcome;
  const isSame = before?.scaleTargetRef !== undefined && isSameTarget(before.scaleTargetRef, target);
  const status = updated(
    before,
    {
      observedGeneration: snapshot.elastiService.generation,
      state: stage.state,
      since: time(stage.since),
      scaleTargetRef: target,
      // If the replicas were not read, those of before stay, unless they are of another workload.
      ...(replicas === null && isSame ? {} : { replicas }),
      pausedScaledObject: outcome.paused,
      scaledObject: outcome.scaledObject || null,
      service: snapshot.service,
      ports: outcome.ports,
      ...(isRecorded(before, outcome) ? {} : recordOf(outcome)),
      ...(lastWakeMs === null ? {} : { lastWakeMilliseconds: lastWakeMs }),
      route: stage.state === "Serve" ? null : outcome.route,
      mode: stage.state === "Serve" ? "serve" : "proxy",
      conditions: setConditions(before?.conditions ?? [], judgements(outcome, before?.conditions), now),
    },
    now,
  );
  return status === before ? before : { ...status, ...recordOf(outcome) };
}

/** The next leader counts the cooldown from `lastScaledUpTime`. */
function recordOf({ idleSince }: ReconcileOutcome): Pick<ElastiServiceStatus, "lastScaledUpTime"> {
  return idleSince === null ? {} : { lastScaledUpTime: time(idleSince) };
}

/**
 * Traffic advances the time with every reconcile. The recorded time may lag by a tenth of the cooldown unless something
 * else is written.
 */
function isRecorded(before: ElastiServiceStatus | undefined, { idleSince, snapshot }: ReconcileOutcome): boolean {
  const lag = (idleSince ?? 0) - Date.parse(before?.lastScaledUpTime ?? "");
  return lag >= 0 && lag < Math.max(1000, snapshot.policy.cooldown / 10);
}

/**
 * The status of an ElastiService that is not reconciled further: its spec is invalid, another object manages its
 * Service, or it is paused.
 */
export function statusOfIdle(
  before: ElastiServiceStatus | undefined,
  about: { readonly reason: string; readonly message: string; readonly generation: number; readonly selected?: number },
  now: number,
): Nulled<ElastiServiceStatus> {
  const { reason, message, generation, selected } = about;
  const holds = reason === "Paused" ? undefined : selected !== undefined;
  const judged = judge("Ready", holds, reason, message, generation);
  const conditions = setConditions(before?.conditions ?? [], [judged], now);
  const found = selected === undefined ? {} : { selected };
  return updated(before, { observedGeneration: generation, ...found, conditions }, now);
}

/** The status of an ElastiService that stays and is no longer managed. */
export function statusOfReleased(
  { metadata: { generation = 0 }, status: before }: StoredElastiService,
  now: number,
): Nulled<ElastiServiceStatus> {
  const message = `Released by the annotation ${RELEASE}: requests go directly to the pods, and nothing is changed until the annotation is removed`;
  const conditions = setConditions(
    before?.conditions ?? [],
    ["Ready", "Asleep"].map((type) => judge(type, false, "Released", message, generation)),
    now,
  );
  const nothing = {
    state: null,
    since: null,
    replicas: null,
    pausedScaledObject: null,
    scaledObject: null,
    route: null,
  };
  return updated(before, { observedGeneration: generation, ...nothing, mode: "serve", conditions }, now);
}

function judgements(outcome: ReconcileOutcome, before: readonly Condition[] = []): readonly Judgement[] {
  const { snapshot, decision, stage, failure, refusedProbes, unknownWakePorts, stop } = outcome;
  const { autoscalerFault, isScaledObjectMade, hasTriggers } = outcome;
  const judged = (type: string, holds: boolean | undefined, reason: string, message: string) =>
    judge(type, holds, reason, message, snapshot.elastiService.generation);
  const { reason, message } = decision;
  const { triggers } = snapshot;
  const silent = triggers.find(({ verdict }) => verdict === "unknown");
  const wasJudged = (condition: string) => before.some(({ type }) => type === condition);
  return [
    failure !== undefined
      ? judged("Ready", false, "Failed", failure)
      : snapshot.specFault !== undefined
        ? judged("Ready", false, "InvalidSpec", snapshot.specFault)
        : judged("Ready", reason === "Paused" ? undefined : !needsAttention(decision), reason, message),
    judged("Asleep", stage.state === "Zero", stage.state, SENTENCES[stage.state]),
    // Triggers that were not read this time are as they were.
    ...(triggers.length === 0 && (hasTriggers || !wasJudged(TRIGGERS))
      ? []
      : [
          silent
            ? judged(TRIGGERS, false, "TriggerUnknown", `${silent.trigger}: ${silent.message}`)
            : triggers.length > 0
              ? judged(TRIGGERS, true, "Read", "All triggers were evaluated")
              : judged(TRIGGERS, true, "NoTriggers", "The spec has no triggers"),
        ]),
    // If all rules are valid from the start, there is no condition.
    ...(refusedProbes.length === 0 && !wasJudged(PROBES)
      ? []
      : [
          refusedProbes.length > 0
            ? judged(PROBES, false, "PatternRefused", refusedProbes.join("; "))
            : judged(PROBES, true, "Used", "All rules of probeResponse are valid"),
        ]),
    ...(unknownWakePorts.length === 0 && !wasJudged(WAKE_PORTS)
      ? []
      : [
          unknownWakePorts.length > 0
            ? judged(WAKE_PORTS, false, "PortNotFound", portsNotFound(snapshot.service, unknownWakePorts))
            : judged(WAKE_PORTS, true, "Found", "The Service has all ports of wakePorts"),
        ]),
    ...(stop === null || (drains(stop) && !wasJudged(DRAIN)) ? [] : [judged(DRAIN, ...drainOf(stop))]),
    ...(autoscalerFault === null && !wasJudged(AUTOSCALER)
      ? []
      : [
          autoscalerFault === null
            ? judged(AUTOSCALER, true, "Compatible", "The autoscaler does not undo a wake")
            : judged(AUTOSCALER, false, "MinReplicaCountZero", autoscalerFault),
        ]),
    ...(isScaledObjectMade
      ? [judged(GROWTH, false, "OnlyThroughResolver", ONLY_THROUGH_RESOLVER)]
      : wasJudged(GROWTH)
        ? [judged(GROWTH, true, "NotCreated", "The ScaledObject is not created by scale-resolver")]
        : []),
  ];
}

function portsNotFound(service: string, ports: readonly (string | number)[]): string {
  return `Service ${service} has no TCP port ${ports.join(", ")}: correct wakePorts. If it has none of them, requests to every port wake it`;
}

/** Its only trigger counts requests at the resolver, of which a warm service has none. */
const GROWTH = "AutoscalerGrows";
const ONLY_THROUGH_RESOLVER =
  "The created ScaledObject keeps the replicas of a warm service as they are, because its requests do not pass the resolver: to scale it by load, name a ScaledObject of your own with minReplicaCount 1 and a trigger that sees all requests";

/** Seconds for which a pod must serve after SIGTERM: nodes follow EndpointSlices at most once a second. */
const DRAIN_SECONDS = 2;

function drains({ hasPreStop, graceSeconds }: PodStop): boolean {
  return hasPreStop && graceSeconds >= DRAIN_SECONDS;
}

/**
 * Whether the pods serve until nodes have followed. A program may do so without a preStop hook, which cannot be
 * observed.
 */
function drainOf(stop: PodStop): readonly [holds: boolean | undefined, reason: string, message: string] {
  const { graceSeconds } = stop;
  if (drains(stop)) return [true, "PreStop", "The containers that serve have a preStop hook and time for it"];
  const lost = "requests that are sent to a terminating pod before nodes know of it are lost";
  if (graceSeconds < DRAIN_SECONDS) {
    const message = `terminationGracePeriodSeconds is ${graceSeconds}, so ${lost}: set at least ${DRAIN_SECONDS} more than the containers need to finish their requests`;
    return [false, "NoGracePeriod", message];
  }
  const message = `A container that serves has no preStop hook. If it exits at SIGTERM, ${lost}: add lifecycle.preStop.sleep.seconds: ${DRAIN_SECONDS}, or serve for ${DRAIN_SECONDS} s after SIGTERM`;
  return [undefined, "NoPreStop", message];
}

const TRIGGERS = "TriggersAvailable";
const PROBES = "ProbeRulesUsed";
const WAKE_PORTS = "WakePortsFound";
const DRAIN = "PodsDrain";
const AUTOSCALER = "AutoscalerCompatible";

const SENTENCES: Readonly<Record<Stage["state"], string>> = {
  Serve: "Requests go directly to the pods",
  Guard: "Requests are redirected to the resolver, which forwards them",
  Zero: "The workload is at 0 replicas; the next request wakes it",
  Wake: "Requests wait for a ready pod",
};

/** Only a change sets `lastReconciledTime`. Null removes a stored field. */
function updated(
  before: ElastiServiceStatus | undefined,
  fields: Nulled<ElastiServiceStatus>,
  now: number,
): Nulled<ElastiServiceStatus> {
  const stored: Readonly<Record<string, unknown>> = before ?? {};
  const changes = Object.entries(fields).filter(([field, value]) => !isDeepStrictEqual(stored[field] ?? null, value));
  if (before && changes.length === 0) return before;
  return { ...before, ...Object.fromEntries(changes), lastReconciledTime: time(now) };
}

/** To the second, as the API server writes times. */
function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
