import { boundsOf } from "../decide/bounds.ts";
import { nextMemory } from "../decide/memory.ts";
import { type MetricReading, NO_MEMORY, type PolicySnapshot, type WeightSnapshot } from "../decide/snapshot.ts";
import { within } from "../decide/targets.ts";
import { weightDecider } from "../decide/weight-decider.ts";
import { metricOf } from "../observe/metric-value.ts";
import { originalWeight } from "./original-rule.ts";
import { Tally, type Totals } from "./tally.ts";

/** One time of the past: what each metric source gave, and the weight that was then in force, if it is known. */
export interface PastStep {
  readonly at: number;
  readonly metrics: readonly MetricReading[];
  readonly weight: number | null;
}

export interface ReplayInput {
  readonly rebalance: WeightSnapshot["rebalance"];
  readonly policy: PolicySnapshot;
  readonly combine: WeightSnapshot["combine"];
  /** The weights that the target accepts. */
  readonly range: { readonly minimum: number; readonly maximum: number };
  /** Milliseconds until a new weight is in effect. */
  readonly timeToLive: number;
  /** The weight of the past where the steps do not know it. */
  readonly weight: number;
  /** Milliseconds between two steps. */
  readonly step: number;
  readonly steps: readonly PastStep[];
}

/** What a rule would have done at one time. */
export interface ReplayPoint {
  readonly at: number;
  /** The load of all sites; null if it was unknown. */
  readonly total: number | null;
  readonly policy: number;
  readonly original: number;
}

export interface Replay {
  readonly policy: Totals;
  readonly original: Totals;
  /** The part of targetValue by which the load of the base may differ: the tolerance, or a tenth without one. */
  readonly band: number;
  /** Milliseconds without a metric. */
  readonly unknown: number;
  readonly points: readonly ReplayPoint[];
}

/** The band of a policy without a tolerance. */
const BAND = 0.1;

/**
 * Replays a policy over the past, and the original's rule beside it. Both see the load of all sites as it was, and as
 * much of it at the base as their own weights would have left there. A weight takes effect after the time to live, and
 * at the next step at the earliest. Both start with the weight that fits the first known load.
 */
export function replay(input: ReplayInput): Replay {
  const { policy, steps, step, combine } = input;
  const band = policy.tolerance > 0 ? policy.tolerance : BAND;
  const totals = steps.map(({ metrics, weight }) => {
    const measured = metricOf({ metrics, combine });
    return measured === null ? null : measured * whole(policy, weight ?? input.weight);
  });
  const first = totals.find((total) => total !== null) ?? 0;
  const initial = within(input.range, original(input, first, policy.minimum));
  const rules = [
    new Rule(input, initial, policyStep(input, initial)),
    new Rule(input, initial, originalStep(input, initial)),
  ] as const;
  const tallies = rules.map(() => new Tally({ target: policy.targetValue, band, step }));
  const points: ReplayPoint[] = [];
  let unknown = 0;
  for (const [time, past] of steps.entries()) {
    const total = totals[time] ?? null;
    if (total === null) unknown += step;
    for (const [index, rule] of rules.entries()) {
      const { weight, changed, floor } = rule.reconcile(past, total);
      tallies[index]?.add(total === null ? null : total * base(policy, weight), weight, changed, weight > floor);
    }
    const [policyRule, originalRule] = rules;
    points.push({ at: past.at, total, policy: policyRule.weight, original: originalRule.weight });
  }
  const [ours, theirs] = tallies.map((tally) => tally.totals());
  if (ours === undefined || theirs === undefined) throw new TypeError("there are two rules");
  return { policy: ours, original: theirs, band, unknown, points };
}

/** Decides the next weight from a snapshot with the weight of this rule. */
type Step = (snapshot: Omit<WeightSnapshot, "memory">) => number;

/** One rule with the weight that it has set. */
class Rule {
  weight: number;
  readonly #input: ReplayInput;
  readonly #step: Step;
  /** Weights that are not in effect yet, the oldest first. */
  readonly #coming: { readonly at: number; readonly weight: number }[] = [];
  #effective: number;

  constructor(input: ReplayInput, initial: number, step: Step) {
    this.#input = input;
    this.#step = step;
    this.weight = initial;
    this.#effective = initial;
  }

  /** The weight in effect at this time, and whether the rule then sets another one. */
  reconcile({ at, metrics }: PastStep, total: number | null) {
    const { policy, rebalance, range, timeToLive, combine } = this.#input;
    while (this.#coming[0] && this.#coming[0].at <= at)
      this.#effective = this.#coming.shift()?.weight ?? this.#effective;
    const effective = this.#effective;
    const snapshot: Omit<WeightSnapshot, "memory"> = {
      at: new Date(at).toISOString(),
      ...{ rebalance, policy, combine, dryRun: false, blocked: null },
      onExternalChange: "enforce",
      metrics: policy.scope === "base" && total !== null ? [atBase(metrics, total * base(policy, effective))] : metrics,
      targets: [
        {
          ...{ target: "the target", ...range, weight: this.weight, timeToLive, pending: false, message: null },
          others: [{ name: "base", weight: policy.baseValue }],
        },
      ],
    };
    const next = this.#step(snapshot);
    const changed = next !== this.weight;
    this.weight = next;
    if (changed) this.#coming.push({ at: at + timeToLive, weight: next });
    return { weight: effective, changed, floor: boundsOf({ ...snapshot, memory: NO_MEMORY }).floor };
  }
}

function policyStep({ range }: ReplayInput, initial: number): Step {
  let memory = NO_MEMORY;
  let weight = initial;
  return (now) => {
    const snapshot = { ...now, memory };
    const verdict = weightDecider.decide(snapshot);
    memory = nextMemory(snapshot, verdict, []);
    if (verdict.action !== "hold" && verdict.after !== null) weight = within(range, verdict.after);
    return weight;
  };
}

/** The original's rule: no pace, no bounds above, and a weight that the target refuses is not set. */
function originalStep(input: ReplayInput, initial: number): Step {
  const { policy, range } = input;
  let weight = initial;
  return (now) => {
    const [fault] = now.metrics.flatMap((reading) => (reading.fault === null ? [] : [reading.fault]));
    if (fault !== undefined && fault !== "NotANumber") return weight;
    const { floor: minimum } = boundsOf({ ...now, policy: { ...policy, maximum: null }, memory: NO_MEMORY });
    const metric = metricOf(now) ?? NaN;
    const wanted = original(input, metric, minimum);
    if (wanted <= range.maximum) weight = wanted;
    return weight;
  };
}

function original({ policy: { targetValue, baseValue } }: ReplayInput, metric: number, minimum: number): number {
  return originalWeight({ metric, target: targetValue, base: baseValue, minimum });
}

/** The part of the load that the base gets. */
function base({ baseValue }: PolicySnapshot, weight: number): number {
  return baseValue + weight === 0 ? 1 : baseValue / (baseValue + weight);
}

/** By how much the load of all sites exceeds the measured one. */
function whole(policy: PolicySnapshot, weight: number): number {
  return policy.scope === "total" || policy.baseValue === 0 ? 1 : 1 / base(policy, weight);
}

function atBase(metrics: readonly MetricReading[], value: number): MetricReading {
  const [first] = metrics;
  const sampledAt = first?.sampledAt ?? "";
  return { source: first?.source ?? "", value: String(value), sampledAt, fault: null, message: null };
}
