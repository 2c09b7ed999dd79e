import type { CollectorLoadBalancerStatus } from "@evenkeel/api";
import { judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
import { conditionsAfterFailure } from "@evenkeel/operator";
import type { FleetReason } from "../decide/fleet-decider.ts";

/** Something that holds or not, and why. Undefined: it is not known. */
export interface Finding {
  readonly holds: boolean | undefined;
  readonly reason: string;
  readonly message: string;
}

/** What a reconcile found, as far as the status shows it. */
export interface Findings {
  /** Collectors that exist. */
  readonly replicas: number;
  readonly selector: string;
  /** Null while not every source has answered. */
  readonly targets: number | null;
  /** By the type of the condition. */
  readonly conditions: Readonly<Record<string, Finding>>;
}

/** Reasons for which targets are not kept as they should be, until something else changes. */
const FAULTS: ReadonlySet<FleetReason> = new Set<FleetReason>([
  ...(["StateAway", "OriginalRuns", "InvalidScale", "NoCollector"] as const),
]);

export function isFault(reason: FleetReason): boolean {
  return FAULTS.has(reason);
}

/** The status after a reconcile; the present one if nothing in it changes. */
export function statusAfter(
  present: CollectorLoadBalancerStatus | undefined,
  { replicas, selector, targets, conditions: found }: Findings,
  generation: number,
  now: number,
): Nulled<CollectorLoadBalancerStatus> {
  const judged = Object.entries(found).map(([type, { holds, reason, message }]): Judgement =>
    judge(type, holds, reason, message, generation),
  );
  const conditions = setConditions(present?.conditions ?? [], judged, now);
  const isSame =
    present?.conditions === conditions &&
    present.replicas === replicas &&
    present.selector === selector &&
    (present.targets ?? null) === targets;
  return isSame ? present : { replicas, selector, targets, conditions };
}

/** The status after a reconcile that failed: all but the condition Ready stays as it was last seen. */
export function statusAfterFailure(
  present: CollectorLoadBalancerStatus | undefined,
  { error, selector }: { readonly error: unknown; readonly selector: string },
  generation: number,
  now: number,
): Nulled<CollectorLoadBalancerStatus> {
  const conditions = conditionsAfterFailure(present?.conditions, error, generation, now);
  return present?.conditions === conditions ? present : { selector: present?.selector ?? selector, conditions };
}
