import type { Reason } from "./reason.ts";
import type { Path, ServiceSnapshot } from "./snapshot.ts";

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
  for (const message of gaps(path)) add("NoResolver", message);
  if (!activity) add("ActivityUnknown", "Not every resolver says how many requests it has");
  if (drainPrepared) add("DrainPrepared", "The last pod of the service is about to be taken away");
  return found;
}

/** What would not reach a resolver of the requests for a Service at zero. */
function gaps({ resolvers, unreached = [], unbound = 0 }: Path): readonly string[] {
  if (resolvers === 0) return ["No resolver is ready to take requests"];
  const found = unreached.map(
    (family) =>
      `No resolver is reached by ${family}, which the Service has: install the resolver with both families (ipFamilyPolicy of its Service), or take ${family} out of the Service's ipFamilies`,
  );
  if (unbound === 0) return found;
  const ports = unbound === 1 ? "a port" : `${unbound} ports`;
  return [...found, `The resolver could not listen on ${ports} for the Service; its log says why`];
}
