import type { ObjectContext } from "@evenkeel/operator";
import { CodedError } from "@evenkeel/runtime";
import type { Binding, TargetRef } from "../../binding.ts";
import type { State } from "../../decide/state.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import type { Autoscalers, ResumeOptions } from "../autoscalers.ts";
import type { WakeCallOptions } from "../scales.ts";
import { wakeWorkload, type Workload, type WorkloadClients } from "../wake-workload.ts";

/** The workload that an ElastiService named before it named another. */
export interface FormerWorkload extends Workload {
  /** Whether it was last seen at 0 replicas. A workload that had replicas then is not changed. */
  readonly asleep: boolean;
}

export interface Past {
  readonly status: Pick<ElastiServiceStatus, "scaleTargetRef" | "replicas"> | undefined;
  /** The binding with which the Service was last managed, if known. The cached status may be older. */
  readonly served: Binding | undefined;
  /** The state at that time. */
  readonly state: State | undefined;
}

/** The workload to restore if `binding` names another one; undefined if it is the same or none is recorded. */
export function formerWorkload(binding: Binding, { status, served, state }: Past): FormerWorkload | undefined {
  const target = served?.target ?? status?.scaleTargetRef;
  if (!target || isSameTarget(target, binding.target)) return undefined;
  const autoscaler = served?.autoscaler ?? null;
  return {
    namespace: binding.namespace,
    target,
    minReplicas: served?.minReplicas ?? binding.minReplicas,
    autoscaler: autoscaler?.name === binding.autoscaler?.name ? null : autoscaler,
    asleep: status?.replicas === 0 || state === "Zero" || state === "Wake",
  };
}

export function isSameTarget(one: TargetRef, other: TargetRef): boolean {
  return one.apiVersion === other.apiVersion && one.kind === other.kind && one.name === other.name;
}

export interface RestoreClients extends WorkloadClients {
  readonly autoscalers: Pick<Autoscalers, "resume" | "allowZero">;
}

/** Restores workloads that are no longer managed: nothing else would wake one that sleeps, or resume its autoscaler. */
export class RestoreWorkload {
  readonly #clients: RestoreClients;

  constructor(clients: RestoreClients) {
    this.#clients = clients;
  }

  /**
   * Wakes a workload that an ElastiService no longer names, if it was asleep, and resumes its autoscaler. Rejects if a
   * retry may succeed.
   */
  async run(former: FormerWorkload, context: ObjectContext): Promise<void> {
    if (!former.asleep) return;
    await this.wake(former, context);
    if (former.autoscaler) await this.allowZero(former.namespace, former.autoscaler.name, context);
  }

  /**
   * Lets a ScaledObject scale to zero again. Resolves with false, and logs why, if that failed and a retry cannot
   * succeed. Rejects if a retry may succeed.
   */
  allowZero(namespace: string, name: string, context: ObjectContext): Promise<boolean> {
    return unlessTerminal(context.log, `could not let ScaledObject ${name} scale to zero again`, () =>
      this.#clients.autoscalers.allowZero(namespace, { type: "keda", name }, context),
    );
  }

  /**
   * Wakes a workload. `awake`: it had replicas. Resolves with `failed`, and logs why, if a retry cannot succeed.
   * Rejects if a retry may succeed.
   */
  async wake(
    workload: Workload,
    context: ObjectContext & Pick<WakeCallOptions, "readFirst">,
  ): Promise<"woken" | "awake" | "failed"> {
    const { kind, name } = workload.target;
    const { log } = context;
    let outcome: "woken" | "awake" | "failed" = "failed";
    await unlessTerminal(log, `could not wake ${kind} ${name}, which is no longer managed`, async () => {
      outcome = await wakeWorkload(this.#clients, workload, context);
      if (outcome === "woken") log.info(`woke ${kind} ${name}, which is no longer managed`);
    });
    return outcome;
  }

  /** Resumes a ScaledObject that is not paused for any sleeping workload. Rejects if a retry may succeed. */
  async resume(
    namespace: string,
    name: string,
    context: ObjectContext,
    { active }: Pick<ResumeOptions, "active"> = {},
  ): Promise<void> {
    const { log } = context;
    await unlessTerminal(
      log,
      `could not resume ScaledObject ${name}, which no sleeping workload needs paused`,
      async () => {
        const resumed = await this.#clients.autoscalers.resume(
          namespace,
          { type: "keda", name },
          { ...context, ...(active !== undefined && { active }) },
        );
        if (resumed === "resumed") log.info(`resumed ScaledObject ${name}: no sleeping workload needs it paused`);
      },
    );
  }
}

/** Whether `task` succeeded. Logs an error that a retry cannot resolve; rejects with any other. */
async function unlessTerminal(log: ObjectContext["log"], failed: string, task: () => Promise<void>): Promise<boolean> {
  try {
    await task();
    return true;
  } catch (error) {
    if (!(error instanceof CodedError) || error.recovery === "retryable") throw error;
    log.warn({ error }, failed);
    return false;
  }
}
