import { faultText } from "../config/fault.ts";
import type { FleetReason } from "../decide/fleet-decider.ts";
import type { FleetPlan } from "../decide/plan.ts";
import type { FleetSnapshot } from "../decide/snapshot.ts";
import type { Fleet } from "../fleet.ts";
import type { FleetSight } from "../observe/fleet-observer.ts";
import { type Finding, isFault } from "./status.ts";

/** What one reconcile came to. */
export interface Reconciled {
  readonly fleet: Fleet;
  readonly snapshot: FleetSnapshot;
  readonly plan: FleetPlan;
  readonly decision: { readonly reason: FleetReason; readonly message: string };
  /** Why the collectors' objects are not as they should be. */
  readonly workloadFault: { readonly reason: string; readonly message: string } | undefined;
  readonly stateAvailable: boolean;
  readonly sight: Pick<FleetSight, "autoscalers" | "silent" | "staleLoads">;
  readonly now: number;
}

/** Faults that a message names; the rest is counted. */
const MOST_NAMED = 5;

/** The conditions of a CollectorLoadBalancer, each with a sentence that says what to do. */
export function findingsOf(reconciled: Reconciled): Readonly<Record<string, Finding>> {
  const { snapshot, plan, stateAvailable } = reconciled;
  const { fault } = plan.scale;
  return {
    Ready: ready(reconciled),
    ConfigValid: configValid(reconciled.fleet),
    TargetsDiscovered: discovered(reconciled),
    ScalingValid: fault === null ? scaling(reconciled) : { holds: false, reason: fault.code, message: fault.message },
    CollectorsPolling: polling(reconciled),
    TargetsAssigned: assigned(reconciled),
    LoadsKnown: loadsKnown(reconciled),
    StateAvailable: stateAvailable
      ? { holds: true, reason: "Available", message: "" }
      : { holds: false, reason: "Away", message: "The shared state does not answer: no target moves until it does" },
    Paused: snapshot.paused
      ? { holds: true, reason: "Annotation", message: "To resume, remove the annotation evenkeel.io/paused" }
      : { holds: false, reason: "NotPaused", message: "" },
  };
}

/** The scaler and an autoscaler would both choose the number of collectors. */
function scaling({ snapshot, sight: { autoscalers } }: Reconciled): Finding {
  if (snapshot.scale.scaler === null || autoscalers.length === 0) return { holds: true, reason: "Valid", message: "" };
  const message =
    `HorizontalPodAutoscaler ${listed(autoscalers)} writes spec.replicas, which is ignored while spec.scale.enabled:` +
    " delete the autoscaler, or disable spec.scale";
  return { holds: false, reason: "AutoscalerIgnored", message };
}

function polling({ sight: { silent } }: Reconciled): Finding {
  if (silent.length === 0) return { holds: true, reason: "Polling", message: "" };
  const message =
    `Ready, but not asking for targets: ${listed(silent)}. Check that the image has a Prometheus receiver with` +
    " target_allocator, and that its pods reach port 8082 of collector-scheduler";
  return { holds: false, reason: "NotPolling", message };
}

function loadsKnown({ snapshot: { loadFault }, sight: { staleLoads } }: Reconciled): Finding {
  if (loadFault !== null) return { holds: false, reason: "NoSeries", message: `No load is levelled: ${loadFault}` };
  if (staleLoads === null) return { holds: true, reason: "Known", message: "" };
  return {
    holds: false,
    reason: "Stale",
    message: `Load is levelled by counts of more than 5 minutes ago: ${staleLoads}`,
  };
}

function ready({ decision, workloadFault, fleet, snapshot, sight }: Reconciled): Finding {
  if (workloadFault) return { holds: false, ...workloadFault };
  const { reason, message } = decision;
  if (snapshot.paused) return { holds: undefined, reason, message };
  if (fleet.fault !== undefined) return { holds: false, reason: "InvalidConfig", message: fleet.fault };
  const present = snapshot.collectors.filter(({ awaySince }) => awaySince === null);
  if (sight.silent.length > 0 && sight.silent.length === present.length)
    return { holds: false, reason: "NotPolling", message: "No collector asks for targets: see CollectorsPolling" };
  return { holds: !isFault(reason) && reason !== "Waiting", reason, message };
}

function configValid({ fault, faults, jobs, configuration }: Fleet): Finding {
  if (fault !== undefined) {
    const served = configuration ? "The last configuration that could be read stays" : "Collectors get 503";
    const message = `spec.collectorConfig cannot be read: ${fault}. ${served}`;
    return { holds: false, reason: "Unreadable", message };
  }
  if (faults.length === 0) return { holds: true, reason: "Valid", message: `${jobs.length} jobs are served` };
  const named = listed(faults.map(faultText));
  return { holds: false, reason: "BadField", message: `${named}. The other ${jobs.length} jobs are served` };
}

function discovered({ fleet, now }: Reconciled): Finding {
  const { sources, answered, heldBack } = fleet.catalogue;
  const failing = sources.filter(({ health }) => health.fault !== undefined);
  if (failing.length > 0) {
    const named = failing.map(({ job, mechanism, health: { fault = "", goodAt } }) => {
      const age = goodAt === undefined ? "it never answered" : `last good answer ${seconds(now - goodAt)} s ago`;
      return `${mechanism} discovery of job ${job}: ${fault} (${age})`;
    });
    return { holds: false, reason: "SourceFailed", message: listed(named) };
  }
  if (!answered) {
    const waiting = sources
      .filter(({ health }) => !health.answered)
      .map(({ job, mechanism }) => `${mechanism} of ${job}`);
    return { holds: undefined, reason: "Waiting", message: `No answer yet: ${listed(waiting)}` };
  }
  if (heldBack > 0) {
    const message = `${heldBack} groups of targets are held back: raise --max-targets, or split the object in two`;
    return { holds: false, reason: "TooManyTargets", message };
  }
  return { holds: true, reason: "Answered", message: "" };
}

function assigned({ snapshot: { apart }, plan: { large } }: Reconciled): Finding {
  if (apart.length > 0) {
    const named = listed(apart.map(({ key, owner }) => `${key} on ${owner}`));
    const message = `Two collectors died with each of these targets, so no third gets it for an hour: ${named}`;
    return { holds: false, reason: "SetApart", message };
  }
  if (large.length === 0) return { holds: true, reason: "Assigned", message: "" };
  const message = `Larger than the mean load, so its collector gets little else: ${listed(large)}`;
  return { holds: true, reason: "LargeTargets", message };
}

/** To the minute: each change of a condition's message is a write. */
function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 60_000) * 60;
}

function listed(texts: readonly string[]): string {
  const rest = texts.length - MOST_NAMED;
  return texts.slice(0, MOST_NAMED).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}
