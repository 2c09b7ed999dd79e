import type { ObjectContext } from "@evenkeel/operator";
import { CodedError } from "@evenkeel/runtime";
import type { Binding, TargetRef } from "../../binding.ts";
import type { State } from "../../decide/state.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import type { Autoscalers, ResumeOptions } from "../autoscalers.ts";
import { wakeWorkload, type Workload, type WorkloadClients } from "../wake-workload.ts";

/** The workload that an ElastiService named before it named another. */
export interface FormerWorkload extends Workload {
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
  readonly autoscalers: Pick<Autoscalers, "resume" | "calm">;
}

/** Puts back what is no longer managed: nothing else would wake a workload that sleeps, or resume an autoscaler that is paused. */
export class RestoreWorkload {
  readonly #clients: RestoreClients;

  constructor(clients: RestoreClients) {
    this.#clients = clients;
  }

  /** Wakes a workload that an ElastiService no longer names, if it was asleep, and leaves it to its autoscaler. Rejects if a retry may succeed. */
  async run(former: FormerWorkload, context: ObjectContext): Promise<void> {
    if (!former.asleep) return;
    await this.wake(former, context);
    if (former.autoscaler) await this.calm(former.namespace, former.autoscaler.name, context);
  }

  /** Lets a ScaledObject scale to zero again. Rejects if a retry may succeed. */
  async calm(namespace: string, name: string, context: ObjectContext): Promise<void> {
    await unlessTerminal(context.log, `could not let ScaledObject ${name} scale to zero again`, () =>
      this.#clients.autoscalers.calm(namespace, { type: "keda", name }, context),
    );
  }

  /** Wakes a workload; false if that will never succeed, which is logged. Rejects if a retry may succeed. */
  async wake(workload: Workload, context: ObjectContext): Promise<boolean> {
    const { kind, name } = workload.target;
    const { log } = context;
    return unlessTerminal(log, `could not wake ${kind} ${name}, which is no longer managed`, async () => {
      const outcome = await wakeWorkload(this.#clients, workload, context);
      if (outcome === "woken") log.info(`woke ${kind} ${name}, which is no longer managed`);
    });
  }

  /** Resumes a ScaledObject that no sleeping workload needs paused. Rejects if a retry may succeed. */
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

/** Whether it was done. An error that no retry mends is logged; any other rejects. */
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
