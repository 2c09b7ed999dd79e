import type { Decider, Snapshot, Verdict } from "@evenkeel/runtime";
import type { Plan } from "./answer.ts";
import { GO_REASONS, goOrNot, type GoSnapshot, type GoVerdict } from "./go.ts";
import { plan } from "./plan.ts";
import type { PlanSnapshot } from "./snapshot.ts";

const ACTIONS = ["hold", "evict"] as const;

/** Why pods are evicted or not. The same words are metric labels, Event reasons and what the dashboard shows. */
const REASONS = [
  "Paused",
  "InvalidPolicy",
  "NoUsage",
  "NothingKnown",
  "TargetReached",
  "AsLevelAsItGets",
  "OriginalRuns",
  "StateAway",
  "StateLost",
  "ReplacementNotReady",
  "LandingUntrusted",
  "ForecastMissed",
  "HotNodes",
  "AboveTarget",
  ...GO_REASONS,
] as const;

export type PolicyReason = (typeof REASONS)[number];

/** Why evictions stop until something else changes. */
export type StopReason = "StateAway" | "StateLost" | "ReplacementNotReady" | "LandingUntrusted" | "ForecastMissed";

/** Everything that the decision about a policy depends on. */
export interface PolicySnapshot extends Snapshot {
  readonly policy: string;
  readonly paused: boolean;
  readonly dryRun: boolean;
  /** Who holds the live Lease of the original; null if nobody does. */
  readonly original: string | null;
  /** Why usage could not be read; null if it could, or is not needed. */
  readonly usageFault: string | null;
  /** Why nothing may be evicted, whatever the plan is; null if evictions may go on, and in dry run. */
  readonly stop: { readonly reason: StopReason; readonly message: string } | null;
  /** What the plan is made from; null while paused. */
  readonly planned: PlanSnapshot | null;
}

/** The names of the first pods that are evicted. */
export type PolicyVerdict = Verdict<(typeof ACTIONS)[number], PolicyReason, readonly string[]>;

/** Pods beyond these are counted in the message, not named: decisions are kept, sent and shown. */
const NAMED = 20;

/** What comes of the plan of a policy. `made` is null while paused. */
export function verdictOf(snapshot: Omit<PolicySnapshot, "at" | "planned">, made: Plan | null): PolicyVerdict {
  const { policy: name, dryRun, original, stop } = snapshot;
  const about = { object: { kind: "RebalancePolicy", name }, before: [], dryRun };
  const hold = (reason: PolicyReason, message: string): PolicyVerdict => {
    return { ...about, action: "hold", reason, after: [], message };
  };
  if (made === null) return hold("Paused", "The annotation evenkeel.io/paused is set; no plan is made");
  if (made.moves.length === 0) return hold(...reasonToHold(made, snapshot.usageFault));
  if (original !== null) return hold("OriginalRuns", `${original} is active; nothing is evicted`);
  if (stop !== null) return hold(stop.reason, stop.message);
  return {
    ...about,
    action: "evict",
    reason: made.nodes.hot > 0 ? "HotNodes" : "AboveTarget",
    after: made.moves.slice(0, NAMED).map(({ pod }) => `${pod.namespace}/${pod.name}`),
    message: `${hotNodes(made)}; ${evictions(made.moves.length)} ${dryRun ? "would bring" : "bring"} ${levels(made)}`,
  };
}

function reasonToHold(made: Plan, usageFault: string | null): [PolicyReason, string] {
  const { outcome, faults, nodes } = made;
  switch (outcome) {
    case "InvalidPolicy":
      return [outcome, faults.map(({ field, message }) => `${field}: ${message}`).join("; ")];
    case "NothingKnown":
      return usageFault === null
        ? [outcome, `The load of ${nodes.known} of ${nodes.known + nodes.frozen.length} nodes is known; two are needed`]
        : ["NoUsage", `No usage is known, so every node is frozen: ${usageFault}`];
    case "TargetReached":
      return [outcome, `${hotNodes(made)}, and σ is ${sigmaText(made.sigma?.before)}: the target is reached`];
    // Without a move, this is a budget of 0.
    case "BudgetSpent":
    case "AsLevelAsItGets":
      return [
        "AsLevelAsItGets",
        `${hotNodes(made)}, and no eviction that is allowed would help: σ is ${sigmaText(made.sigma?.before)}`,
      ];
  }
}

function hotNodes({ nodes: { hot } }: Plan): string {
  return hot === 0 ? "No node is hot" : hot === 1 ? "1 node is hot" : `${hot} nodes are hot`;
}

function evictions(count: number): string {
  return count === 1 ? "1 eviction" : `${count} evictions`;
}

function levels({ sigma }: Plan): string {
  return `σ from ${sigmaText(sigma?.before)} to ${sigmaText(sigma?.predicted)}; the lower bound for as many evictions is ${sigmaText(sigma?.bound)}`;
}

function sigmaText(sigma: number | undefined): string {
  return sigma === undefined ? "unknown" : sigma.toFixed(4);
}

/** The go or no-go for one pod, as a decision about that pod. */
export function verdictOfGo({ pod }: GoSnapshot, { go, reason, message }: GoVerdict): PolicyVerdict {
  const { namespace, name, node } = pod;
  const object = { kind: "Pod", namespace, name };
  return { object, action: go ? "evict" : "hold", reason, before: [node], after: go ? [] : [node], message };
}

/** Two questions: the plan of a policy, and the go or no-go for each pod of it. */
export const policyDecider = {
  actions: ACTIONS,
  reasons: REASONS,
  decide: (snapshot) => {
    if ("question" in snapshot) return verdictOfGo(snapshot, goOrNot(snapshot));
    return verdictOf(snapshot, snapshot.planned === null ? null : plan(snapshot.planned));
  },
} satisfies Decider<PolicySnapshot | GoSnapshot, (typeof ACTIONS)[number], PolicyReason, readonly string[]>;
