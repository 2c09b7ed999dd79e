import { type Deployment, deployments, type KubeClient, type StatefulSet, statefulSets } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { BadTarget, TargetKindUnknown, TargetNotFound, TargetNotScalable } from "../act/errors.ts";
import type { Binding, TargetRef } from "../binding.ts";
import type { Keda } from "./keda.ts";

/** What is known of the workload that an ElastiService names. */
export interface TargetSight {
  /** Why it can never be scaled, for a person. Absent: it can, or that could not be found out. */
  readonly fault?: string;
  /** How its pods stop; null: that is not known. */
  readonly stop: PodStop | null;
  /** Why its autoscaler would undo a wake, for a person; null: it would not, or that is not known. */
  readonly autoscalerFault: string | null;
}

/** What a pod template says of the time between the signal to stop and the end. */
export interface PodStop {
  readonly hasPreStop: boolean;
  readonly graceSeconds: number;
}

export interface TargetsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  /** Reads what a workload is set to. Fails with what is the matter if there is none that can be scaled. */
  readonly replicas: (namespace: string, target: TargetRef, signal: AbortSignal) => Promise<number>;
  readonly keda: Pick<Keda, "fault">;
  readonly clock: Clock;
  /** Milliseconds after which a workload with a fault is looked for again. */
  readonly interval: number;
}

const UNKNOWN: TargetSight = { stop: null, autoscalerFault: null };
/** Milliseconds for which a workload that was found is not read again. */
const REMEMBERED = 600_000;
/** What Kubernetes takes for a template that does not say it. */
const DEFAULT_GRACE = 30;

const FAULTS = [BadTarget, TargetKindUnknown, TargetNotFound, TargetNotScalable];

/** Looks for the workloads of ElastiServices before they have to be scaled: a wrong name is reported at once, and not when a request waits. */
export class Targets {
  readonly #options: TargetsOptions;
  /** By uid of the ElastiService. */
  readonly #seen = new Map<
    string,
    { readonly generation: number; readonly until: number; readonly sight: TargetSight }
  >();

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** What was last seen of it. */
  known({ uid, generation }: Binding): TargetSight {
    const seen = this.#seen.get(uid);
    return seen?.generation === generation ? seen.sight : UNKNOWN;
  }

  /** Reads it, unless it was read of late. What cannot be read now is not known, and is no fault. */
  async look(binding: Binding, signal: AbortSignal): Promise<TargetSight> {
    const { clock, interval } = this.#options;
    const { uid, generation } = binding;
    const seen = this.#seen.get(uid);
    if (seen?.generation === generation && clock.monotonic() < seen.until) return seen.sight;
    const sight = await this.#read(binding, signal);
    if (!sight) return this.known(binding);
    const until = clock.monotonic() + (sight.fault === undefined ? REMEMBERED : interval);
    this.#seen.set(uid, { generation, until, sight });
    return sight;
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
  }

  clear(): void {
    this.#seen.clear();
  }

  async #read(binding: Binding, signal: AbortSignal): Promise<TargetSight | undefined> {
    const { namespace, target, autoscaler, scaledObject } = binding;
    try {
      await this.#options.replicas(namespace, target, signal);
    } catch (error) {
      signal.throwIfAborted();
      return FAULTS.some((fault) => error instanceof fault) ? { ...UNKNOWN, fault: explain(error) } : undefined;
    }
    // One that is created here has a trigger that is active after a wake.
    const isForeign = autoscaler?.type === "keda" && !scaledObject;
    const autoscalerFault = isForeign ? await this.#options.keda.fault(namespace, autoscaler.name, signal) : null;
    return { stop: await this.#stop(namespace, target, signal), autoscalerFault };
  }

  /** Rights to read the workload itself may be missing, and other kinds have other templates. */
  async #stop(namespace: string, { apiVersion, kind, name }: TargetRef, signal: AbortSignal): Promise<PodStop | null> {
    const type = apiVersion === "apps/v1" ? TEMPLATED[kind] : undefined;
    if (!type) return null;
    try {
      return stopOf(await this.#options.kube.resource(type).get({ namespace, name }, { signal }));
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }
}

const TEMPLATED: Readonly<Record<string, typeof deployments | typeof statefulSets>> = {
  Deployment: deployments,
  StatefulSet: statefulSets,
};

function stopOf({ spec }: Deployment | StatefulSet): PodStop {
  const { containers = [], terminationGracePeriodSeconds = DEFAULT_GRACE } = spec?.template.spec ?? {};
  return {
    hasPreStop: containers.some(({ lifecycle }) => lifecycle?.preStop !== undefined),
    graceSeconds: terminationGracePeriodSeconds,
  };
}
