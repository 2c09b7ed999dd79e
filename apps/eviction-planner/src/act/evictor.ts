import { durationMilliseconds, type RebalancePolicySpec } from "@evenkeel/api";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext } from "@evenkeel/operator";
import { aborted, type Clock, type Logger, sleep, type Term } from "@evenkeel/runtime";
import {
  type EvictionRecord,
  followed,
  isTrusted,
  judgedForecast,
  memoryOf,
  reasonToStop,
  trustedAgain,
} from "../decide/evictions.ts";
import type { PolicySnapshot } from "../decide/policy-decider.ts";
import type { ClusterSnapshot, PlanMemory } from "../decide/snapshot.ts";
import type { metrics } from "../metrics.ts";
import type { Planned } from "../observe/planning.ts";
import type { DrainPeers } from "./drain-peers.ts";
import type { LastCheck } from "./last-check.ts";
import type { Ledger } from "./ledger.ts";
import { Refusals } from "./refusals.ts";
import { BLOCKED, type Move, runWave, type WaveOptions, type WaveResult } from "./wave.ts";
import { WindowClock } from "./window-clock.ts";

export interface EvictorOptions extends Omit<WaveOptions, "ledger" | "go" | "peers" | "settled" | "now"> {
  readonly ledger: Ledger;
  readonly lastCheck: LastCheck;
  readonly peers: DrainPeers;
  /** When any policy was last carried out, by their statuses; in milliseconds since the epoch, NaN if never. */
  readonly lastExecution: () => number;
  /** When somebody last asked for trust in landings, by the policies' annotations; in milliseconds since the epoch. */
  readonly trustSince: () => number;
  readonly metrics: Metrics<typeof metrics>;
  /** Milliseconds between two plans of a policy. */
  readonly syncPeriod: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds of the original's default, where `backoffDuration` cannot be read. */
const BACK_OFF = 15 * 60_000;
/** Milliseconds for which evictions count in a budget at most. */
const LONGEST_WINDOW = 3_600_000;
/** Milliseconds that the status of a disruption budget has to follow an eviction, and how often it is looked at. */
const FOLLOWING = 5000;
const LOOK = 50;
/** Milliseconds of `lastSeen` that are not worth a write. */
const SEEN_ENOUGH = 60_000;

/** What is remembered for one plan that is to be carried out. */
export interface Recalled {
  /** Null while the state is away. */
  readonly record: EvictionRecord | null;
  /** Nothing is stored, although the statuses tell of evictions whose windows are not over. */
  readonly isLost: boolean;
}

/** Carries plans out, and remembers evictions for the plans that follow. */
export class Evictor {
  readonly #options: EvictorOptions;
  readonly #windows: WindowClock;
  readonly #refusals: Refusals;
  /** Whether a policy evicts in this term. */
  #hasRecalled = false;
  /** By policy, what its last plan left behind for the next one. */
  readonly #left = new Map<string, Pick<PlanMemory, "levels" | "underWay">>();
  /** By policy, the generation of the plan under way. */
  readonly #generations = new Map<string, number>();
  /** Settles when all work that was passed to `alone` has ended. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: EvictorOptions) {
    this.#options = options;
    this.#windows = new WindowClock(options.clock);
    this.#refusals = new Refusals({ clock: options.clock, first: 2 * options.syncPeriod });
  }

  /**
   * Runs `work` while no other policy plans or evicts, so that each sees what the others have in flight. Rejects if
   * `signal` aborts before `work` begins, which then never does.
   */
  async alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#queue;
    const run = before.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#queue = run.catch(() => undefined);
    await Promise.race([before, aborted(signal)]);
    return run;
  }

  async recall(term: Term): Promise<Recalled> {
    const { ledger, lastExecution } = this.#options;
    this.#hasRecalled = true;
    const recalled = await ledger.recall(term);
    const since = this.#windows.now() - lastExecution();
    return { record: recalled?.record ?? null, isLost: recalled?.isNew === true && since < LONGEST_WINDOW };
  }

  /** What this replica knows of evictions; undefined where it does not lead. */
  get record(): EvictionRecord | undefined {
    return this.#options.ledger.known;
  }

  /**
   * Whether evictions may have been made of which nothing is known now. Without a policy that evicts there are none.
   */
  get isUnknown(): boolean {
    return this.#hasRecalled && this.record === undefined;
  }

  /** What a plan of the policy is to remember, for a question that nobody carries out. */
  recallOf(policy: string): (cluster: ClusterSnapshot) => PlanMemory | null {
    return (cluster) => (this.record === undefined ? null : this.memory(policy, this.record, cluster));
  }

  memory(policy: string, record: EvictionRecord, cluster: ClusterSnapshot): PlanMemory {
    const at = this.#windows.now();
    const memory = memoryOf(followed(record, cluster, at), cluster, this.#left.get(policy) ?? { levels: {} }, at);
    return { ...memory, awaited: this.#options.lastCheck.awaited(), refused: this.#refusals.current() };
  }

  /** Why nothing is evicted, whatever the plan is. */
  stop({ record, isLost }: Recalled, planned: Planned): PolicySnapshot["stop"] {
    if (record === null) return { reason: "StateAway", message: "The state does not answer; nothing is evicted" };
    if (isLost) {
      const message = "The record of evictions is gone; nothing is evicted until an hour after the last eviction";
      return { reason: "StateLost", message };
    }
    return reasonToStop(this.#next(record, planned), planned.snapshot.policy.name, this.#windows.now());
  }

  isTrusted({ record }: Recalled, planned: Planned): boolean {
    return record === null || isTrusted(this.#next(record, planned).foreseen);
  }

  /** Stores what became of earlier evictions. */
  async follow(record: EvictionRecord, planned: Planned, { term }: ObjectContext): Promise<void> {
    const { ledger, metrics, log, peers } = this.#options;
    const { snapshot, plan } = planned;
    this.#left.set(snapshot.policy.name, { levels: plan.levels, underWay: plan.underWay });
    const next = this.#next(record, planned);
    const before = new Map(record.evictions.map((eviction) => [eviction.uid, eviction]));
    const landed = next.evictions.filter(({ uid, landed }) => landed !== null && before.get(uid)?.landed === null);
    const isNews =
      landed.length > 0 ||
      next.forecasts !== record.forecasts ||
      next.untrustedSince !== record.untrustedSince ||
      next.evictions.some(({ uid, at, gone }) => at !== before.get(uid)?.at || gone !== before.get(uid)?.gone) ||
      next.evictions.length !== record.evictions.length ||
      next.evictions.some(({ uid, lastSeen }) => lastSeen - (before.get(uid)?.lastSeen ?? 0) > SEEN_ENOUGH);
    if (!isNews) return;
    await ledger.keep(next, term);
    for (const { uid, namespace, pod, from, landed: node } of landed) {
      log.info({ pod: `${namespace}/${pod}`, from, node }, "the replacement of an evicted pod is ready");
      const { expected = [], wave } = before.get(uid) ?? {};
      const isForeseen = record.waves.some((each) => each.at === wave && each.nodes?.includes(node ?? "") === true);
      const place = expected.findIndex((each) => each.node === node);
      if (node !== "") metrics.landings.inc({ rank: place === -1 && isForeseen ? "later" : rankOf(place) });
      if (node === from) metrics.returned.inc({});
      await peers.landed(uid);
    }
  }

  /** Gives how many pods were evicted or may have been, and what ended it early. Never rejects. */
  async evict(
    { plan, snapshot }: Planned,
    spec: RebalancePolicySpec,
    context: ObjectContext,
  ): Promise<Pick<WaveResult, "unclear" | "fault"> & { readonly evicted: number }> {
    const { metrics, log, lastCheck } = this.#options;
    const options: WaveOptions = {
      ...this.#options,
      go: (move, planned, peers) => lastCheck.go(move, planned, peers),
      now: () => this.#windows.now(),
      settled: (move) => this.#settled(move, context.signal),
      evict: async (pod, move, call) => {
        const spent = lastCheck.expectChange(move);
        await this.#options.evict(pod, move, call);
        spent();
      },
    };
    const { evicted, refused, unclear, fault } = await runWave(plan, snapshot, backOffOf(spec), options, context);
    const reason = plan.nodes.hot > 0 ? "HotNode" : "AboveMean";
    for (const { pod, from } of evicted) {
      metrics.evictions.inc({ namespace: pod.namespace, reason });
      log.info({ pod: `${pod.namespace}/${pod.name}`, from }, "evicted a pod");
    }
    for (const { move, why, by } of refused) {
      if (by === BLOCKED) lastCheck.blocked(move);
      if (by !== null) this.#refusals.add(move.pod.uid, by);
      log.warn({ pod: `${move.pod.namespace}/${move.pod.name}`, why }, "did not evict a pod");
    }
    if (evicted.length > 0) await this.#foretell(plan, evicted.length === plan.moves.length, context.term);
    return { evicted: evicted.length, unclear, fault };
  }

  /** Call it before each plan that is to be carried out: an edited policy gets a new plan. */
  begin(policy: string, generation: number): void {
    if (this.#generations.get(policy) === generation) return;
    this.#generations.set(policy, generation);
    this.drop(policy);
  }

  /** Drops the rest of a plan that was carried out over several waves: the next wave starts a new plan. */
  drop(policy: string): void {
    const left = this.#left.get(policy);
    if (left !== undefined) this.#left.set(policy, { levels: left.levels });
  }

  forget(policy: string): void {
    this.#left.delete(policy);
    this.#generations.delete(policy);
  }

  endTerm(): void {
    this.#left.clear();
    this.#generations.clear();
    this.#options.ledger.endTerm();
    this.#options.lastCheck.forget();
    this.#refusals.forget();
    this.#hasRecalled = false;
  }

  #next(record: EvictionRecord, { snapshot: { cluster, policy }, plan }: Planned): EvictionRecord {
    const at = this.#windows.now();
    const { name, spec } = policy;
    const judged = { policy: name, sigma: plan.sigma?.before ?? null, settles: spec.basis === "usage" };
    const trusted = trustedAgain(followed(record, cluster, at), this.#options.trustSince(), at);
    return judgedForecast(trusted, { ...judged, backOff: backOffOf(spec) }, at);
  }

  /** A forecast of which only a part was carried out says nothing. */
  async #foretell({ policy, sigma }: Planned["plan"], isWhole: boolean, term: Term): Promise<void> {
    const { ledger, log } = this.#options;
    const at = this.#windows.now();
    const foretold = isWhole && sigma ? { policy, at, sigma: sigma.predicted, missedUntil: null } : null;
    await ledger.foretell(policy, foretold, term).catch((error: unknown) => {
      log.warn({ error, policy }, "the forecast of a wave was not kept");
    });
  }

  /** Waits until the disruption budget of the pod counts the eviction before it. */
  async #settled(move: Move, signal: AbortSignal): Promise<void> {
    const { clock, lastCheck } = this.#options;
    const until = clock.monotonic() + FOLLOWING;
    while (lastCheck.isAwaited(move) && clock.monotonic() < until && !signal.aborted) await sleep(clock, LOOK);
  }
}

function backOffOf({ backoffDuration }: Pick<RebalancePolicySpec, "backoffDuration">): number {
  return durationMilliseconds(backoffDuration) ?? BACK_OFF;
}

/** `1`, `2`, `3` or `later` for the place among the likely nodes, `unforeseen` for another node. */
function rankOf(place: number): "1" | "2" | "3" | "later" | "unforeseen" {
  const ranks = ["1", "2", "3"] as const;
  return place === -1 ? "unforeseen" : (ranks[place] ?? "later");
}
