import type { Reason } from "./reason.ts";
import type { Path, ServiceSnapshot } from "./snapshot.ts";

export interface Obstacle {
  readonly reason: Reason;
  /** One sentence for a person. */
  readonly message: string;
}

/**
 * Everything that prevents a service from being scaled to 0, the most important first. What it waits for in Guard is
 * not included.
 */
export function obstacles(snapshot: ServiceSnapshot): readonly Obstacle[] {
  const { specFault, periodFault, triggers, policy, createdAt, idleSince, activity, pods, path, drainPrepared } =
    snapshot;
  const found: Obstacle[] = [];
  const add = (reason: Reason, message: string) => found.push({ reason, message });

  if (snapshot.targetFault !== undefined) add("TargetNotFound", capital(snapshot.targetFault));
  if (snapshot.localOnly !== undefined) add("Unsupported", capital(snapshot.localOnly));
  if (specFault !== undefined) add("InvalidSpec", specFault);
  if (periodFault !== undefined) add("InvalidSpec", `It is not known when the service may sleep: ${periodFault}`);
  if (triggers.length === 0) add("NoTrigger", "The spec has no triggers, so the service is never scaled to 0");
  for (const { trigger, message } of triggers.filter(({ verdict }) => verdict === "busy")) {
    add("Busy", `Trigger ${trigger} reports traffic: ${message}`);
  }
  for (const { trigger, message } of triggers.filter(({ verdict }) => verdict === "unknown")) {
    add("TriggerUnknown", `Trigger ${trigger} cannot be evaluated: ${message}`);
  }
  const since = Math.max(createdAt ?? -Infinity, idleSince ?? -Infinity);
  const cooldown = cooldownOf(snapshot);
  const left = since + cooldown - Date.parse(snapshot.at);
  if (left > 0) {
    const from = new Date(since).toISOString().replace(/\.\d+Z$/, "Z");
    const rest = Math.ceil(left / 1000);
    const why =
      cooldown > policy.cooldown
        ? `, extended because ${snapshot.interrupted} attempts to sleep were interrupted,`
        : "";
    add("Cooldown", `The cooldown of ${cooldown / 1000} s${why} started at ${from} and ends in ${rest} s`);
  }
  if (periodFault === undefined && !snapshot.withinPeriod) add("OutsidePeriod", "The time is outside enabledPeriod");
  if (!pods) add("EndpointsUnknown", "The endpoints of the Service are not known yet");
  for (const message of gaps(path)) add("NoResolver", message);
  if (!activity) add("ActivityUnknown", "Not all replicas of the resolver report their requests");
  if (drainPrepared) add("DrainPrepared", "The last ready pod is about to be evicted");
  return found;
}

/** Milliseconds beyond which interruptions do not extend a cooldown. */
const LONGEST_EXTENDED = 600_000;

/**
 * The cooldown doubles with each interruption in a row after the first, so that a service with few requests, or with a
 * metric server that fails now and then, is not redirected to and fro.
 */
function cooldownOf({ policy: { cooldown }, interrupted = 0 }: ServiceSnapshot): number {
  return Math.max(cooldown, Math.min(cooldown * 2 ** Math.max(0, interrupted - 1), LONGEST_EXTENDED));
}

/** Requests to a Service at zero that would not reach a resolver. */
function gaps({ resolvers, unreached = [], unbound = 0 }: Path): readonly string[] {
  if (resolvers === 0) return ["No replica of the resolver is ready"];
  const found = unreached.map(
    (family) =>
      `No replica of the resolver has an ${family} address, which the Service has: set ipFamilyPolicy of the resolver's Service to dual-stack, or remove ${family} from the Service's ipFamilies`,
  );
  if (unbound === 0) return found;
  const ports = unbound === 1 ? "a port" : `${unbound} ports`;
  return [...found, `The resolver could not listen on ${ports} of the Service: see its log`];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
