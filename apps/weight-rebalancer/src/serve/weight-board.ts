import { parseRebalance, type Rebalance } from "@evenkeel/api";
import type { ReadStore } from "@evenkeel/kube";
import type { weightsV1 } from "@evenkeel/rpc";
import type { Outcome } from "../act/status.ts";
import { shareOf } from "../decide/share.ts";
import { metricOf } from "../observe/metric-value.ts";
import { isPaused, type StoredRebalance } from "../rebalance-resource.ts";
import { History, type HistoryPoint } from "./history.ts";

export type BoardEvent =
  | { readonly $case: "weight"; readonly value: Weight }
  | { readonly $case: "removed"; readonly value: weightsV1.Rebalance };

type Weight = weightsV1.DeepPartial<weightsV1.Weight>;

/** The outcome of a reconcile. Only the leader has it; other replicas read the status. */
export type ShownOutcome = Outcome & { readonly decision: { readonly at: string } };

/**
 * What readers see of each Rebalance. Every replica has one: it follows the objects as they are stored, and where this process leads
 * it knows more than they tell.
 */
export class WeightBoard {
  readonly #store: ReadStore<StoredRebalance>;
  readonly #outcomes = new Map<string, ShownOutcome>();
  readonly #histories = new Map<string, History>();
  readonly #watchers = new Set<(key: string) => void>();

  constructor(store: ReadStore<StoredRebalance>) {
    this.#store = store;
    store.subscribe(({ key }) => this.#tell(key));
  }

  show({ metadata: { namespace = "", name } }: Rebalance, outcome: ShownOutcome): void {
    const key = `${namespace}/${name}`;
    this.#outcomes.set(key, outcome);
    let history = this.#histories.get(key);
    if (!history) this.#histories.set(key, (history = new History()));
    history.add(pointOf(outcome));
    this.#tell(key);
  }

  remove(key: string): void {
    this.#outcomes.delete(key);
    this.#histories.delete(key);
  }

  /** Another leads now: what this process last did is no longer how things are. */
  clear(): void {
    this.#outcomes.clear();
    this.#histories.clear();
  }

  get(key: string): Weight | undefined {
    const object = this.#store.get(key);
    return object && weightOf(object, this.#outcomes.get(key));
  }

  keys(): string[] {
    return [...this.#store.values()].map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`);
  }

  outcome(key: string): ShownOutcome | undefined {
    return this.#outcomes.get(key);
  }

  history(key: string): readonly HistoryPoint[] {
    return this.#histories.get(key)?.points() ?? [];
  }

  /** Calls `watcher` with each key that something happened to, until the returned function is called. */
  subscribe(watcher: (key: string) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #tell(key: string): void {
    for (const watcher of this.#watchers) watcher(key);
  }
}

function pointOf({ snapshot, decision, targets }: ShownOutcome): HistoryPoint {
  const [first] = snapshot.targets;
  const actual = targets[0]?.actual ?? null;
  return {
    at: Date.parse(snapshot.at),
    metric: metricOf(snapshot),
    target: snapshot.policy.targetValue,
    desired: decision.after,
    actual,
    share: first ? shareOf({ weight: actual, others: first.others }) : null,
  };
}

/** A spec that cannot be understood has a status that says so, and no weight. */
function weightOf(object: StoredRebalance, outcome: ShownOutcome | undefined): Weight {
  const { metadata, status } = object;
  const parsed = parseRebalance(object);
  const policy = parsed.ok ? parsed.value.spec.policy.targettracking : undefined;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const metric = outcome && metricOf(outcome.snapshot);
  const desired = outcome?.decision.after ?? status?.desiredValue;
  return {
    rebalance: { namespace: metadata.namespace ?? "", name: metadata.name ?? "" },
    ...(metric === null || metric === undefined ? {} : { metric }),
    targetValue: policy?.targetValue ?? 0,
    ...(desired === undefined ? {} : { desired: BigInt(desired) }),
    targets: targetsOf(status, outcome),
    reason: outcome?.decision.reason ?? ready?.reason ?? "",
    message: outcome?.decision.message ?? ready?.message ?? "",
    decidedAt: outcome?.decision.at ?? status?.lastUpdateAt,
    dryRun: outcome?.decision.dryRun ?? (parsed.ok && parsed.value.spec.dryRun),
    paused: (parsed.ok && parsed.value.spec.suspend === true) || isPaused(metadata.annotations),
    conditions: (status?.conditions ?? []).map(({ lastTransitionTime, type, status, reason, message }) => {
      return { type, status, reason, message, since: lastTransitionTime };
    }),
    baseValue: BigInt(policy?.baseValue ?? 0),
    minimum: BigInt(policy?.minimum ?? 0),
    maximum: BigInt(policy?.maximum ?? greatest(outcome)),
  };
}

function greatest(outcome: ShownOutcome | undefined): number {
  return Math.max(0, ...(outcome?.snapshot.targets.map(({ maximum }) => maximum) ?? [255]));
}

function targetsOf(
  status: StoredRebalance["status"],
  outcome: ShownOutcome | undefined,
): NonNullable<Weight["targets"]> {
  if (!outcome) return status?.actualValue === undefined ? [] : [{ name: "", actual: BigInt(status.actualValue) }];
  return outcome.targets.map(({ target, actual }, index) => {
    const others = outcome.snapshot.targets[index]?.others ?? [];
    const share = shareOf({ weight: actual, others });
    return {
      name: target.name,
      ...(actual === null ? {} : { actual: BigInt(actual) }),
      ...(share === null ? {} : { share }),
    };
  });
}
