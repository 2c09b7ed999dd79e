import { durationMilliseconds, type RebalancePolicySpec } from "@evenkeel/api";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext } from "@evenkeel/operator";
import type { Logger, Term } from "@evenkeel/runtime";
import { type EvictionRecord, followed, isTrusted, memoryOf, reasonToStop } from "../decide/evictions.ts";
import type { PolicySnapshot } from "../decide/policy-decider.ts";
import type { ClusterSnapshot, PlanMemory } from "../decide/snapshot.ts";
import type { metrics } from "../metrics.ts";
import type { Planned } from "../observe/planning.ts";
import type { Ledger } from "./ledger.ts";
import { runWave, type WaveOptions } from "./wave.ts";

export interface EvictorOptions extends Omit<WaveOptions, "ledger"> {
  readonly ledger: Ledger;
  readonly metrics: Metrics<typeof metrics>;
  readonly log: Logger;
}

/** Milliseconds of the original's default, where `backoffDuration` cannot be read. */
const BACK_OFF = 15 * 60_000;
/** Milliseconds for which evictions count in a budget at most. */
const LONGEST_WINDOW = 3_600_000;

/** What is remembered for one plan that is to be carried out. */
export interface Recalled {
  /** Null while the state is away. */
  readonly record: EvictionRecord | null;
  /** Nothing is stored, although the policy's status tells of evictions whose windows are not over. */
  readonly isLost: boolean;
}

/** Carries plans out, and remembers evictions for the plans that follow. */
export class Evictor {
  readonly #options: EvictorOptions;
  /** By policy, the class of each node after its last plan. */
  readonly #levels = new Map<string, PlanMemory["levels"]>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: EvictorOptions) {
    this.#options = options;
  }

  /** Runs `work` while no other policy plans or evicts, so that each sees what the others have in flight. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** `lastExecutionTime` is that of the policy's status. */
  async recall(lastExecutionTime: string | undefined, term: Term): Promise<Recalled> {
    const recalled = await this.#options.ledger.recall(term);
    const since = this.#options.clock.now() - Date.parse(lastExecutionTime ?? "");
    return { record: recalled?.record ?? null, isLost: recalled?.isNew === true && since < LONGEST_WINDOW };
  }

  memory(policy: string, record: EvictionRecord, cluster: ClusterSnapshot, at: number): PlanMemory {
    return memoryOf(followed(record, cluster, at), cluster, this.#levels.get(policy) ?? {}, at);
  }

  /** Why nothing is evicted, whatever the plan is. */
  stop({ record, isLost }: Recalled, { snapshot: { cluster, at } }: Planned): PolicySnapshot["stop"] {
    if (record === null) return { reason: "StateAway", message: "The state does not answer; nothing is evicted" };
    if (isLost) {
      const message = "The record of evictions is gone; nothing is evicted until an hour after the last eviction";
      return { reason: "StateLost", message };
    }
    return reasonToStop(followed(record, cluster, at), at);
  }

  isTrusted({ record }: Recalled): boolean {
    return isTrusted(record?.foreseen ?? []);
  }

  /** Stores what became of earlier evictions. */
  async follow(record: EvictionRecord, { snapshot, plan }: Planned, { term }: ObjectContext): Promise<void> {
    const { ledger, metrics, log } = this.#options;
    this.#levels.set(snapshot.policy.name, plan.levels);
    const next = followed(record, snapshot.cluster, snapshot.at);
    const landed = next.evictions.filter(
      (each) =>
        each.landed !== null && record.evictions.some(({ uid, landed: before }) => uid === each.uid && before === null),
    );
    if (landed.length === 0 && next.evictions.length === record.evictions.length) return;
    await ledger.keep(next, term);
    for (const { namespace, pod, from, landed: node } of landed) {
      log.info({ pod: `${namespace}/${pod}`, from, node }, "the replacement of an evicted pod is ready");
      if (node === from) metrics.returned.inc({});
    }
  }

  /** Gives how many pods were evicted, and what ended it early. Never rejects. */
  async evict(
    { plan, snapshot }: Planned,
    spec: RebalancePolicySpec,
    context: ObjectContext,
  ): Promise<{ readonly evicted: number; readonly fault: Error | undefined }> {
    const { metrics, log } = this.#options;
    const backOff = durationMilliseconds(spec.backoffDuration) ?? BACK_OFF;
    const { evicted, refused, fault } = await runWave(plan, snapshot, backOff, this.#options, context);
    const reason = plan.nodes.hot > 0 ? "HotNode" : "AboveMean";
    for (const { pod, from } of evicted) {
      metrics.evictions.inc({ namespace: pod.namespace, reason });
      log.info({ pod: `${pod.namespace}/${pod.name}`, from }, "evicted a pod");
    }
    for (const { move, why } of refused) {
      log.warn({ pod: `${move.pod.namespace}/${move.pod.name}`, why }, "did not evict a pod");
    }
    return { evicted: evicted.length, fault };
  }

  forget(policy: string): void {
    this.#levels.delete(policy);
  }

  endTerm(): void {
    this.#levels.clear();
    this.#options.ledger.endTerm();
  }
}
