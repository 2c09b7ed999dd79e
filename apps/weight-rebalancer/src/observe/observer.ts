import type { Rebalance } from "@evenkeel/api";
import { isPaused } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { withTimeLimit } from "../time-limit.ts";
import type { WeightTarget } from "../targets/weight-target.ts";
import type { Blockage, Memory, MetricReading, TargetReading, WeightSnapshot } from "../decide/snapshot.ts";
import type { Claim, Claims } from "./claims.ts";
import type { MetricSource } from "./metric-source.ts";
import { readLimit } from "../timing.ts";
import { policySnapshot } from "./policy.ts";

/** The metric sources and targets of a Rebalance. Building them makes no calls. */
export interface Outside {
  sources(rebalance: Rebalance): readonly MetricSource[];
  targets(rebalance: Rebalance): readonly WeightTarget[];
  /** A target of an object in `namespace`. Undefined for a kind of target that this version does not know. */
  target(namespace: string, spec: TargetSpec): WeightTarget | undefined;
}

export type TargetSpec = NonNullable<Rebalance["spec"]["target"]>;

export interface ObserverOptions {
  readonly outside: Outside;
  /** The holder of the original's Lease and its name, while it is renewed. */
  readonly original: { live(): Promise<string | null> };
  readonly claims: Pick<Claims, "taken" | "learn">;
  readonly clock: Clock;
}

/** A snapshot, and the targets that it was read from. */
export interface Observation {
  readonly snapshot: WeightSnapshot;
  readonly targets: readonly ObservedTarget[];
}

export interface ObservedTarget {
  readonly target: WeightTarget;
  readonly reading: TargetReading;
  /** Why the reading has no weight. */
  readonly error: unknown;
}

/** Builds the snapshot of one Rebalance. What cannot be read is null in it, with the reason. */
export class Observer {
  readonly #outside: Outside;
  readonly #original: ObserverOptions["original"];
  readonly #claims: ObserverOptions["claims"];
  readonly #clock: Clock;

  constructor({ outside, original, claims, clock }: ObserverOptions) {
    this.#outside = outside;
    this.#original = original;
    this.#claims = claims;
    this.#clock = clock;
  }

  /**
   * With `metrics`, as for a preview, no metric source is queried. Which targets can be read is learned before the
   * metric sources have answered, because other Rebalances wait for it.
   */
  async observe(
    rebalance: Rebalance,
    memory: Memory,
    signal: AbortSignal,
    metrics?: readonly MetricReading[],
  ): Promise<Observation> {
    const [readings, targets, lease] = await Promise.all([
      metrics ?? Promise.all(this.#outside.sources(rebalance).map((source) => source.read(signal))),
      this.#readTargets(rebalance, signal),
      this.#original.live(),
    ]);
    return { snapshot: this.#snapshot(rebalance, memory, readings, targets, lease), targets };
  }

  #snapshot(
    rebalance: Rebalance,
    memory: Memory,
    metrics: readonly MetricReading[],
    targets: readonly ObservedTarget[],
    lease: string | null,
  ): WeightSnapshot {
    const { metadata, spec } = rebalance;
    const { namespace = "", name, generation = 0 } = metadata;
    return {
      at: new Date(this.#clock.now()).toISOString(),
      rebalance: { namespace, name, generation },
      policy: policySnapshot(spec),
      dryRun: spec.dryRun,
      blocked: blockage(rebalance, lease, this.#claims.taken(rebalance)),
      onExternalChange: spec.onExternalChange,
      combine: spec.combine,
      metrics,
      targets: targets.map(({ reading }) => reading),
      memory,
    };
  }

  async #readTargets(rebalance: Rebalance, signal: AbortSignal): Promise<readonly ObservedTarget[]> {
    const targets = this.#outside.targets(rebalance).map((target) => this.#read(rebalance, target, signal));
    const read = await Promise.all(targets);
    this.#claims.learn(rebalance.metadata.uid ?? "", read);
    return read;
  }

  async #read({ spec }: Rebalance, target: WeightTarget, signal: AbortSignal): Promise<ObservedTarget> {
    const { minimum, maximum } = target.range;
    const about = { target: target.name, minimum, maximum };
    const limit = readLimit(spec);
    try {
      const { weight, others, timeToLive, pending } = await withTimeLimit(this.#clock, limit, signal, (limited) =>
        target.read({ signal: limited, maxAge: limit / 2 }),
      );
      const reading = { ...about, weight, others, timeToLive, pending, message: null };
      return { target, error: undefined, reading };
    } catch (error) {
      const unknown = { weight: null, others: [], timeToLive: null, pending: false };
      return { target, error, reading: { ...about, ...unknown, message: explain(error) } };
    }
  }
}

function blockage(rebalance: Rebalance, lease: string | null, claim: Claim | null): Blockage | null {
  if (rebalance.spec.suspend) return { reason: "Paused", message: "spec.suspend is set" };
  if (isPaused(rebalance)) return { reason: "Paused", message: "the annotation evenkeel.io/paused is set" };
  if (lease !== null) {
    const message = `the original rebalancer still runs (Lease ${lease}); remove its Deployment first`;
    return { reason: "OriginalRuns", message };
  }
  if (claim === null) return null;
  const message = `the older Rebalance ${claim.holder} writes ${claim.target}; delete one of the two`;
  return { reason: "Conflict", message };
}
