import {
  NODE_CLASS,
  type NodeClassStatus,
  parseNodeClass,
  parseWorkloadSLO,
  WORKLOAD_SLO,
  type WorkloadSLOStatus,
} from "@evenkeel/api";
import { judge, type KubeClient, type Nulled, setConditions, StatusWriter, type StoredObject } from "@evenkeel/kube";
import { resourceTypeOf } from "@evenkeel/operator";
import type { Clock, Logger, Term } from "@evenkeel/runtime";
import type { Plan } from "../decide/answer.ts";
import { type EvictionRecord, NO_EVICTIONS } from "../decide/evictions.ts";
import { nodeClassMembers } from "../decide/node-preference.ts";
import type { ClusterSnapshot } from "../decide/snapshot.ts";
import type { ClusterObjects } from "../observe/cluster/cluster-objects.ts";

export type StoredSLO = StoredObject<WorkloadSLOStatus>;
export type StoredNodeClass = StoredObject<NodeClassStatus>;

/** Milliseconds in which `maxDisruptionsPerHour` counts, and in which a refusal is not noted again. */
const HOUR = 3_600_000;
const NOTED = 60_000;
/** Statuses that are written at once. */
const LANES = 8;
/**
 * Milliseconds after which one reconcile begins no further write, and that one write may take. The next one goes on.
 */
const DEADLINE = 10_000;
const ONE_WRITE = 5000;

export interface GuardRailsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  readonly objects: () => Pick<ClusterObjects, "slos" | "nodeClasses">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reports the use of each WorkloadSLO and the nodes of each NodeClass in their statuses. */
export class GuardRails {
  readonly #options: GuardRailsOptions;
  readonly #slos: StatusWriter<StoredSLO, WorkloadSLOStatus>;
  readonly #nodeClasses: StatusWriter<StoredNodeClass, NodeClassStatus>;

  constructor(options: GuardRailsOptions) {
    this.#options = options;
    this.#slos = new StatusWriter(options.kube.resource(resourceTypeOf<StoredSLO>(WORKLOAD_SLO)), {
      deadline: ONE_WRITE,
    });
    this.#nodeClasses = new StatusWriter(options.kube.resource(resourceTypeOf<StoredNodeClass>(NODE_CLASS)), {
      deadline: ONE_WRITE,
    });
  }

  /**
   * Never rejects: a status that was not written is written by a later reconcile. `record` is null while it is not
   * known, and nothing is told of budgets then.
   */
  async report(cluster: ClusterSnapshot, plan: Plan, record: EvictionRecord | null, term: Term): Promise<void> {
    const { objects, clock, log } = this.#options;
    const now = clock.now();
    const { slos, nodeClasses } = objects();
    const members = new Map(nodeClassMembers(cluster).map((each) => [each.name, each.members.length]));
    const writes = [
      ...Array.from(record === null ? [] : (slos as Iterable<StoredSLO>)).map((slo) => {
        const next = sloStatus(slo, plan, record ?? NO_EVICTIONS, now);
        return next === slo.status ? null : () => this.#slos.write(slo, next, term);
      }),
      ...Array.from(nodeClasses as Iterable<StoredNodeClass>).map((nodeClass) => {
        const next = nodeClassStatus(nodeClass, members.get(nodeClass.metadata.name ?? "") ?? 0, now);
        return next === nodeClass.status ? null : () => this.#nodeClasses.write(nodeClass, next, term);
      }),
    ].filter((write) => write !== null);
    const until = clock.monotonic() + DEADLINE;
    const work = async (): Promise<void> => {
      while (clock.monotonic() < until) {
        const write = writes.shift();
        if (write === undefined) return;
        await write().catch((error: unknown) => {
          log.warn({ error }, "the status of a WorkloadSLO or NodeClass was not written");
        });
      }
    };
    await Promise.all(Array.from({ length: LANES }, work));
  }
}

/** The status of a WorkloadSLO; the present one if nothing in it changes. */
export function sloStatus(
  slo: StoredSLO,
  { stays }: Pick<Plan, "stays">,
  record: EvictionRecord,
  now: number,
): Nulled<WorkloadSLOStatus> {
  const { status: present = {}, metadata } = slo;
  const { namespace = "", name = "", generation = 0 } = metadata;
  const parsed = parseWorkloadSLO(slo);
  const limit = parsed.ok ? (parsed.value.spec.maxDisruptionsPerHour ?? null) : 0;
  const counted = record.evictions
    .filter((each) => each.namespace === namespace && now - each.at < HOUR)
    .map(({ at }) => at);
  const used = counted.length;
  const isSpent = limit !== null && used >= limit;
  const text = parsed.ok
    ? usedText(used, limit)
    : `The spec is invalid, so nothing is evicted: ${parsed.errors.join("; ")}`;
  const judged = [
    judge("Ready", parsed.ok, parsed.ok ? "Valid" : "InvalidSpec", parsed.ok ? "" : text, generation),
    judge("BudgetExhausted", isSpent, isSpent ? "HourlyLimit" : "BudgetLeft", text, generation),
  ];
  const conditions = setConditions(present.conditions ?? [], judged, now);
  const isRefused = stays.some(({ code, by }) => code === "HourlyLimit" && by === `${namespace}/${name}`);
  const lastNoted = Date.parse(present.lastViolation ?? "");
  const isNoted = isRefused && !(now - lastNoted < NOTED);
  const windowStart = used === 0 ? undefined : new Date(Math.min(...counted)).toISOString();
  const isSame =
    slo.status !== undefined &&
    conditions === present.conditions &&
    present.disruptionsInWindow === used &&
    sameTime(present.windowStart, windowStart) &&
    present.message === text &&
    !isNoted;
  if (isSame) return slo.status;
  return {
    disruptionsInWindow: used,
    windowStart: windowStart ?? null,
    ...(isNoted && { lastViolation: new Date(now).toISOString() }),
    ...{ message: text, conditions },
  };
}

function usedText(used: number, limit: number | null): string {
  if (limit === null) return `${used} evictions in the last hour; no limit is set`;
  return `${used} of ${limit} evictions in the last hour`;
}

/** The API server may keep a time with less precision. */
function sameTime(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return Math.abs(Date.parse(one) - Date.parse(other)) < 1000;
}

/** The status of a NodeClass; the present one if nothing in it changes. */
export function nodeClassStatus(nodeClass: StoredNodeClass, nodeCount: number, now: number): Nulled<NodeClassStatus> {
  const { status: present = {}, metadata } = nodeClass;
  const parsed = parseNodeClass(nodeClass);
  const text = parsed.ok ? "" : `The spec is invalid, so the class has no effect: ${parsed.errors.join("; ")}`;
  const judged = judge("Ready", parsed.ok, parsed.ok ? "Valid" : "InvalidSpec", text, metadata.generation ?? 0);
  const conditions = setConditions(present.conditions ?? [], [judged], now);
  const isSame = conditions === present.conditions && present.nodeCount === nodeCount;
  if (isSame && nodeClass.status !== undefined) return nodeClass.status;
  return { nodeCount, lastSync: new Date(now).toISOString(), conditions };
}
