import type { Reason } from "./reason.ts";
import type { ServiceSnapshot } from "./snapshot.ts";

export interface Obstacle {
  readonly reason: Reason;
  /** One sentence for a person. */
  readonly message: string;
}

/** All that keeps a service from being put to sleep, the weightiest first. What it has to wait for in Guard is not among it. */
export function obstacles(snapshot: ServiceSnapshot): readonly Obstacle[] {
  const { specFault, periodFault, triggers, policy, createdAt, idleSince, activity, pods, path, drainPrepared } =
    snapshot;
  const found: Obstacle[] = [];
  const add = (reason: Reason, message: string) => found.push({ reason, message });

  if (specFault !== undefined) add("InvalidSpec", specFault);
  if (periodFault !== undefined) add("InvalidSpec", `It is not known when it may sleep: ${periodFault}`);
  if (triggers.length === 0) add("NoTrigger", "No trigger says when the service is idle, so it is only woken");
  for (const { trigger, message } of triggers.filter(({ verdict }) => verdict === "busy")) {
    add("Busy", `The trigger ${trigger} says that there is traffic: ${message}`);
  }
  for (const { trigger, message } of triggers.filter(({ verdict }) => verdict === "unknown")) {
    add("TriggerUnknown", `The trigger ${trigger} says nothing: ${message}`);
  }
  const since = Math.max(createdAt ?? -Infinity, idleSince ?? -Infinity);
  const left = since + policy.cooldown - Date.parse(snapshot.at);
  if (left > 0) {
    const from = new Date(since).toISOString().replace(/\.\d+Z$/, "Z");
    const rest = Math.ceil(left / 1000);
    add("Cooldown", `The cooldown of ${policy.cooldown / 1000} s counts from ${from}; ${rest} s are left`);
  }
  if (periodFault === undefined && !snapshot.withinPeriod) add("OutsidePeriod", "The time is outside of enabledPeriod");
  if (!pods) add("EndpointsUnknown", "The pods of the service are not known");
  if (path.resolvers === 0) add("NoResolver", "No resolver is ready to take requests");
  if (!activity) add("ActivityUnknown", "Not every resolver says how many requests it has");
  if (drainPrepared) add("DrainPrepared", "The last pod of the service is about to be taken away");
  return found;
}
