import { parseRebalance, type Rebalance, type RebalanceStatus } from "@evenkeel/api";
import {
  type EventRecorder,
  findCondition,
  hasFinalizer,
  referenceOf,
  removeFinalizer,
  type Resource,
  type Result,
  type StatusWriter,
} from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import type { Clock } from "@evenkeel/runtime";
import { afterOriginal, revert, type Reverted, REVERT_RETRY, type Revertible } from "./act/revert.ts";
import { RELEASE_HINT, REVERT_PENDING, statusOfRelease, withoutReverted, withoutUnknown } from "./act/status.ts";
import type { Claims } from "./observe/claims.ts";
import type { Outside } from "./observe/observer.ts";
import { rebalances as type, REVERT_FINALIZER, type StoredRebalance } from "./rebalance-resource.ts";
import { intervalOf } from "./timing.ts";

export interface RevertsOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly outside: Pick<Outside, "targets" | "target">;
  readonly claims: Pick<Claims, "writer">;
  /** The holder of the original's Lease and its name, while it is renewed. */
  readonly original: { live(): Promise<string | null> };
  readonly statuses: StatusWriter<StoredRebalance, RebalanceStatus>;
  readonly events: Pick<EventRecorder, "record">;
  readonly clock: Clock;
  /** `--dry-run`: nothing is reverted. */
  readonly dryRun: boolean;
}

/**
 * Gives targets the weight that they had before the first change: those of a deleted object, and those that a spec no
 * longer names.
 */
export class Reverts {
  readonly #options: RevertsOptions;

  constructor(options: RevertsOptions) {
    this.#options = options;
  }

  /**
   * Reverts the targets of a deleted object, and removes the finalizer when no target is left to wait for. Until then
   * the status and Events say what the deletion waits for. While the original runs, nothing is reverted, and the
   * deletion waits.
   */
  async release(object: StoredRebalance, context: ObjectContext): Promise<Result | undefined> {
    if (!hasFinalizer(object, REVERT_FINALIZER)) return undefined;
    const { rebalances, original, statuses, clock, dryRun } = this.#options;
    const { signal, lastLook, term } = context;
    const parsed = parseRebalance(object);
    const rebalance = parsed.ok ? parsed.value : undefined;
    const lease = await original.live();
    if (lease !== null)
      context.log.warn({ lease }, "the weight is not reverted yet, because the original rebalancer still runs");
    const targets = dryRun || isDryRun(object) ? [] : this.#revertible(object, rebalance);
    const since = Date.parse(object.metadata.deletionTimestamp ?? "");
    const results =
      lease === null
        ? await revert(this.#withWriters(targets, object), { clock, signal, lastLook, since })
        : afterOriginal(targets, lease);
    this.#tell(object, results, context);
    if (!results.some(isWaiting)) {
      await removeFinalizer(rebalances, object, REVERT_FINALIZER, { signal });
      return undefined;
    }
    const generation = object.metadata.generation ?? 0;
    const change = (present: RebalanceStatus | undefined) =>
      withoutUnknown(statusOfRelease(present, results, generation, clock.now()));
    await statuses.write(object, change, term);
    return { requeueAfter: Math.min(REVERT_RETRY, rebalance ? intervalOf(rebalance.spec) : REVERT_RETRY) };
  }

  /**
   * Reverts the targets that the spec named before, where the spec wants a revert. Those that are done are removed from
   * the status.
   */
  async revertFormer(
    object: StoredRebalance,
    rebalance: Rebalance,
    context: ObjectContext,
  ): Promise<readonly Reverted[]> {
    const { outside, statuses, clock, dryRun } = this.#options;
    if (dryRun || rebalance.spec.dryRun || rebalance.spec.onDelete !== "revert") return [];
    const { generation } = object.metadata;
    const present = new Set(outside.targets(rebalance).map(({ name }) => name));
    const former = this.#revertible(object, rebalance).filter(({ name }) => !present.has(name));
    if (former.length === 0) return [];
    const pending = findCondition(object.status?.conditions, REVERT_PENDING);
    const isOld = pending?.status === "True" && pending.observedGeneration === generation;
    const results = await revert(this.#withWriters(former, object), {
      ...context,
      clock,
      since: isOld ? Date.parse(pending.lastTransitionTime) : clock.now(),
    });
    this.#tell(object, results, context);
    if (results.every(isWaiting)) return results;
    const change = (stored: RebalanceStatus | undefined) => {
      const left = stored && withoutReverted(stored, results);
      return left === stored || left === undefined ? stored : withoutUnknown(left);
    };
    await statuses.write(object, change, context.term);
    return results;
  }

  /** Every target with an initial weight: as the spec has it, else as the status has it. */
  #revertible(object: StoredRebalance, rebalance: Rebalance | undefined): readonly Revertible[] {
    const { outside } = this.#options;
    const { namespace = "" } = object.metadata;
    const present = new Map(rebalance && outside.targets(rebalance).map((target) => [target.name, target]));
    return (object.status?.initialWeights ?? []).map(({ target: name, weight, spec }) => {
      return { name, weight, target: present.get(name) ?? (spec && outside.target(namespace, spec)) };
    });
  }

  /** With the other Rebalance that writes each target now. */
  #withWriters(targets: readonly Revertible[], { metadata }: StoredRebalance): readonly Revertible[] {
    return targets.map((each) => {
      const writer = this.#options.claims.writer(each.target ?? each, metadata);
      return { ...each, writer: writer && `Rebalance ${writer}` };
    });
  }

  #tell(object: StoredRebalance, results: readonly Reverted[], { log }: Pick<ObjectContext, "log">): void {
    const regarding = referenceOf(type, object);
    for (const { outcome, message } of results) {
      const note = outcome === "waiting" && object.metadata.deletionTimestamp ? `${message}. ${RELEASE_HINT}` : message;
      log[outcome === "reverted" ? "info" : "warn"]({ outcome }, note);
      const about = { type: outcome === "reverted" ? "Normal" : "Warning", action: "revert", note } as const;
      if (regarding) this.#options.events.record({ regarding, reason: EVENT_REASONS[outcome], ...about });
    }
  }
}

const EVENT_REASONS = { reverted: "Reverted", abandoned: "RevertAbandoned", waiting: "RevertFailed" } as const;

export function isWaiting({ outcome }: Reverted): boolean {
  return outcome === "waiting";
}

/** Also of a spec that cannot be parsed. */
function isDryRun({ spec }: StoredRebalance): boolean {
  return typeof spec === "object" && spec !== null && "dryRun" in spec && spec.dryRun === true;
}
