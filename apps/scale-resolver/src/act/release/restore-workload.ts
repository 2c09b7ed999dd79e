import type { ReconcileContext } from "@evenkeel/kube";
import { CodedError } from "@evenkeel/runtime";
import type { AutoscalerRef, Binding, TargetRef } from "../../binding.ts";
import type { State } from "../../decide/state.ts";
import type { ElastiServiceStatus } from "../../elasti-service-resource.ts";
import type { Autoscalers } from "../autoscalers.ts";
import type { Scales } from "../scales.ts";

/** The workload that an ElastiService named before it named another. */
export interface FormerWorkload {
  readonly target: TargetRef;
  /** Replicas to wake it with. */
  readonly minReplicas: number;
  /** What was paused with it and has no other work now; null: nothing. */
  readonly autoscaler: AutoscalerRef | null;
  /** Whether it was last seen at no replicas. One that ran then is its owner's, whatever he has made of it since. */
  readonly asleep: boolean;
}

export interface Past {
  readonly status: Pick<ElastiServiceStatus, "scaleTargetRef" | "replicas"> | undefined;
  /** How the Service was last looked after, if that is remembered. What is stored may be older. */
  readonly served: Binding | undefined;
  /** Where it stood then. */
  readonly state: State | undefined;
}

/** The workload to be handed back, since `binding` is of another; undefined if it is of the same, or nothing is known of one before. */
export function formerWorkload(binding: Binding, { status, served, state }: Past): FormerWorkload | undefined {
  const target = served?.target ?? status?.scaleTargetRef;
  if (!target || isSameTarget(target, binding.target)) return undefined;
  const autoscaler = served?.autoscaler ?? null;
  return {
    target,
    minReplicas: served?.minReplicas ?? binding.minReplicas,
    autoscaler: autoscaler?.name === binding.autoscaler?.name ? null : autoscaler,
    asleep: status?.replicas === 0 || state === "Zero" || state === "Wake",
  };
}

export function isSameTarget(one: TargetRef, other: TargetRef): boolean {
  return one.apiVersion === other.apiVersion && one.kind === other.kind && one.name === other.name;
}

export interface RestoreWorkloadOptions {
  readonly scales: Pick<Scales, "wake">;
  readonly autoscalers: Pick<Autoscalers, "resume">;
}

/** How long the call that wakes a workload may take, in milliseconds. */
const DEADLINE = 5000;

/** Leaves what is not looked after any more as it was found: a workload that sleeps has nobody left who would wake it. */
export class RestoreWorkload {
  readonly #options: RestoreWorkloadOptions;

  constructor(options: RestoreWorkloadOptions) {
    this.#options = options;
  }

  /** Fails if it may succeed later. */
  async run(namespace: string, former: FormerWorkload, { signal, log }: ReconcileContext): Promise<void> {
    const { scales, autoscalers } = this.#options;
    const { target, minReplicas, autoscaler, asleep } = former;
    if (!asleep) return;
    try {
      const woken = await scales.wake(namespace, target, minReplicas, { signal, deadline: DEADLINE });
      if (woken === "woken") log.info(`${target.kind} ${target.name} is woken, since its ElastiService names another`);
      if (autoscaler) await autoscalers.resume(namespace, autoscaler, { signal });
    } catch (error) {
      if (isRetryable(error)) throw error;
      log.warn({ error }, "a workload that is not looked after any more cannot be woken");
    }
  }

  /** Resumes a ScaledObject that has no reason to be paused any more. Fails if it may succeed later. */
  async resume(namespace: string, scaledObject: string, { signal, log }: ReconcileContext): Promise<void> {
    try {
      const resumed = await this.#options.autoscalers.resume(
        namespace,
        { type: "keda", name: scaledObject },
        { signal },
      );
      if (resumed === "resumed") log.info(`the ScaledObject ${scaledObject} is resumed: no sleep needs it paused`);
    } catch (error) {
      if (isRetryable(error)) throw error;
      log.warn({ error }, "a ScaledObject that has no reason to be paused any more cannot be resumed");
    }
  }
}

function isRetryable(error: unknown): boolean {
  return !(error instanceof CodedError) || error.recovery === "retryable";
}
