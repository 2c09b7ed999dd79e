import type { Rebalance } from "@evenkeel/api";
import { type Clock, explain } from "@evenkeel/runtime";
import { withTimeLimit } from "../time-limit.ts";
import type { WeightTarget } from "../targets/weight-target.ts";
import type { Blockage, Memory, MetricReading, TargetReading, WeightSnapshot } from "../decide/snapshot.ts";
import { isPaused } from "../rebalance-resource.ts";
import type { MetricSource } from "./metric-source.ts";
import { intervalOf } from "./interval.ts";
import { policySnapshot } from "./policy.ts";

/** What a Rebalance names, as things that can be asked. Building one asks nobody. */
export interface Outside {
  sources(rebalance: Rebalance): readonly MetricSource[];
  targets(rebalance: Rebalance): readonly WeightTarget[];
}

export interface ObserverOptions {
  readonly outside: Outside;
  /** The original's Lease and its holder, while it is live. */
  readonly original: { live(): Promise<string | null> };
  readonly clock: Clock;
}

/** A snapshot, and what was asked for it. */
export interface Observation {
  readonly snapshot: WeightSnapshot;
  readonly targets: readonly ObservedTarget[];
}

export interface ObservedTarget {
  readonly target: WeightTarget;
  readonly reading: TargetReading;
  /** Why there is no weight in the reading. */
  readonly error: unknown;
}

/** Longest wait for a target's state, in milliseconds; the interval if that is shorter. */
const READ_DEADLINE = 30_000;

/** Turns the outside world into the snapshot of one Rebalance. What cannot be had is null in it, with the reason beside. */
export class Observer {
  readonly #outside: Outside;
  readonly #original: ObserverOptions["original"];
  readonly #clock: Clock;

  constructor({ outside, original, clock }: ObserverOptions) {
    this.#outside = outside;
    this.#original = original;
    this.#clock = clock;
  }

  /** The original's Lease and its holder, while it is live: then nothing may be written. */
  original(): Promise<string | null> {
    return this.#original.live();
  }

  /** With `metrics` given, as for a what-if, no metric source is asked. */
  async observe(
    rebalance: Rebalance,
    memory: Memory,
    signal: AbortSignal,
    metrics?: readonly MetricReading[],
  ): Promise<Observation> {
    const [readings, targets, lease] = await Promise.all([
      metrics ?? Promise.all(this.#outside.sources(rebalance).map((source) => source.read(signal))),
      Promise.all(this.#outside.targets(rebalance).map((target) => this.#read(rebalance, target, signal))),
      this.#original.live(),
    ]);
    return { snapshot: this.#snapshot(rebalance, memory, readings, targets, lease), targets };
  }

  #snapshot(
    { metadata, spec }: Rebalance,
    memory: Memory,
    metrics: readonly MetricReading[],
    targets: readonly ObservedTarget[],
    lease: string | null,
  ): WeightSnapshot {
    const { namespace = "", name, generation = 0 } = metadata;
    return {
      at: new Date(this.#clock.now()).toISOString(),
      rebalance: { namespace, name, generation },
      policy: policySnapshot(spec),
      dryRun: spec.dryRun,
      blocked: blockage(metadata.annotations, spec, lease),
      onExternalChange: spec.onExternalChange,
      combine: spec.combine,
      metrics,
      targets: targets.map(({ reading }) => reading),
      memory,
    };
  }

  async #read({ spec }: Rebalance, target: WeightTarget, signal: AbortSignal): Promise<ObservedTarget> {
    const { minimum, maximum } = target.range;
    const about = { target: target.name, minimum, maximum };
    const milliseconds = Math.min(READ_DEADLINE, intervalOf(spec));
    try {
      const { weight, others, timeToLive, pending } = await withTimeLimit(this.#clock, milliseconds, signal, (limit) =>
        target.read({ signal: limit, maxAge: milliseconds / 2 }),
      );
      const reading = { ...about, weight, others, timeToLive, pending, message: null };
      return { target, error: undefined, reading };
    } catch (error) {
      const unknown = { weight: null, others: [], timeToLive: null, pending: false };
      return { target, error, reading: { ...about, ...unknown, message: explain(error) } };
    }
  }
}

function blockage(
  annotations: Readonly<Record<string, string>> | undefined,
  { suspend }: Rebalance["spec"],
  lease: string | null,
): Blockage | null {
  if (suspend) return { reason: "Paused", message: "spec.suspend is set" };
  if (isPaused(annotations)) return { reason: "Paused", message: "the annotation evenkeel.io/paused is set" };
  if (lease === null) return null;
  const message = `the original rebalancer still runs (Lease ${lease}); remove its Deployment first`;
  return { reason: "OriginalRuns", message };
}
