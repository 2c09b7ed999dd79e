import type { PodShape, SpreadConstraint } from "../facts.ts";

export const HOSTNAME = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

/** What the scheduler asks of pods that name no constraint and have an owner with a selector. */
const DEFAULTS = [
  { topologyKey: HOSTNAME, maxSkew: 3 },
  { topologyKey: ZONE, maxSkew: 5 },
] as const;

/** Constraints of one kind, with what they ask of the labels of nodes. */
export interface SpreadRules {
  readonly constraints: readonly SpreadConstraint[];
  /** Nodes that lack one of the labels do not take part. Not so for the scheduler's defaults. */
  readonly needsAllLabels: boolean;
}

export function hardSpread({ spread }: PodShape): SpreadRules {
  return { constraints: spread.filter((one) => one.whenUnsatisfiable === "DoNotSchedule"), needsAllLabels: true };
}

/** The pod's own soft constraints, or the scheduler's defaults for a pod without any constraint. */
export function softSpread({ spread, ownerSelector }: PodShape): SpreadRules {
  if (spread.length > 0) {
    return { constraints: spread.filter((one) => one.whenUnsatisfiable === "ScheduleAnyway"), needsAllLabels: true };
  }
  if (ownerSelector === null || isEmptySelector(ownerSelector)) return { constraints: [], needsAllLabels: false };
  const rest = { selector: ownerSelector, minDomains: 1, honorAffinity: true, honorTaints: false } as const;
  const constraints = DEFAULTS.map((one) => ({ ...one, ...rest, whenUnsatisfiable: "ScheduleAnyway" as const }));
  return { constraints, needsAllLabels: false };
}

/** The scheduler counts no pod for a selector that selects everything. */
export function isEmptySelector({
  matchLabels = {},
  matchExpressions = [],
}: NonNullable<SpreadConstraint["selector"]>): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** Whether one more pod in a domain with `count` keeps the skew, with `least` in the emptiest of `domains` domains. */
export function keepsSkew(
  { maxSkew, minDomains }: SpreadConstraint,
  count: number,
  countsItself: boolean,
  least: number,
  domains: number,
): boolean {
  return count + (countsItself ? 1 : 0) - (domains < minDomains ? 0 : least) <= maxSkew;
}

/** What one constraint adds to a node's crowding; domains of small topologies weigh less. */
export function crowding(count: number, domains: number, maxSkew: number): number {
  return count * Math.log(domains + 2) + (maxSkew - 1);
}

/** Of 100, the less crowded the better, with the least and the most crowding of all nodes that are scored. */
export function spreadScore(crowded: number, least: number, most: number): number {
  return most === 0 ? 100 : Math.trunc((100 * (most + least - crowded)) / most);
}
