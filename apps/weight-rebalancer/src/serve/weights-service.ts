import { parseRebalance, REBALANCE } from "@evenkeel/api";
import type { ReadStore, Resource } from "@evenkeel/kube";
import { type Permission, rpcErrors, type Served, weightsV1 } from "@evenkeel/rpc";
import type { Clock } from "@evenkeel/runtime";
import { type MetricReading, NO_MEMORY, type WeightSnapshot } from "../decide/snapshot.ts";
import { weightDecider } from "../decide/weight-decider.ts";
import type { Observer } from "../observe/observer.ts";
import { PAUSED, type StoredRebalance } from "../rebalance-resource.ts";
import { snapshotAfter } from "./snapshot-after.ts";
import type { BoardEvent, WeightBoard } from "./weight-board.ts";

export interface WeightsServiceOptions {
  readonly board: WeightBoard;
  readonly store: Pick<ReadStore<StoredRebalance>, "get">;
  readonly observer: Observer;
  readonly rebalances: Resource<StoredRebalance>;
  readonly clock: Clock;
}

/** Who pauses or resumes must be allowed to change the Rebalance itself. */
const mayChange = ({ rebalance }: { rebalance?: weightsV1.Rebalance | undefined }): Permission => ({
  verb: "patch",
  object: { group: REBALANCE.group, resource: REBALANCE.plural, ...rebalance },
});

/** `evenkeel.weights.v1.Weights`. */
export function weightsService(options: WeightsServiceOptions): Served<weightsV1.WeightsDefinition> {
  return {
    definition: weightsV1.WeightsDefinition,
    implementation: new WeightsService(options),
    access: { pause: mayChange, resume: mayChange },
  };
}

class WeightsService implements weightsV1.WeightsServiceImplementation {
  readonly #options: WeightsServiceOptions;

  constructor(options: WeightsServiceOptions) {
    this.#options = options;
  }

  get: weightsV1.WeightsServiceImplementation["get"] = (request) => {
    const { board } = this.#options;
    const keys = board.keys().filter(selects("Get", request));
    return Promise.resolve({ weights: keys.flatMap((key) => board.get(key) ?? []) });
  };

  watch: weightsV1.WeightsServiceImplementation["watch"] = (request, { signal }) =>
    this.#watch(selects("Watch", request), signal);

  history: weightsV1.WeightsServiceImplementation["history"] = (request) => {
    const points = this.#options.board.history(keyOf("History", request.rebalance));
    return Promise.resolve({
      points: points.map(({ at, metric, target, desired, actual, share }) => ({
        at: new Date(at).toISOString(),
        ...(metric === null ? {} : { metric }),
        targetValue: target,
        ...(desired === null ? {} : { desired: BigInt(desired) }),
        ...(actual === null ? {} : { actual: BigInt(actual) }),
        ...(share === null ? {} : { share }),
      })),
    });
  };

  preview: weightsV1.WeightsServiceImplementation["preview"] = async ({ rebalance, metric, at }, { signal }) => {
    const key = keyOf("Preview", rebalance);
    if (!Number.isFinite(metric))
      throw new rpcErrors.BadRequest({ method: "Preview", fault: "metric is not a number" });
    const now = at ?? new Date(this.#options.clock.now()).toISOString();
    const assumed: MetricReading = {
      source: "assumed",
      value: String(metric),
      sampledAt: now,
      fault: null,
      message: null,
    };
    const snapshot = await this.#snapshot(key, assumed, signal);
    const { before, after, reason, message } = weightDecider.decide({ ...snapshot, at: now, metrics: [assumed] });
    if (after === null) throw new rpcErrors.BadRequest({ method: "Preview", fault: `there is no weight: ${message}` });
    return { ...(before === null ? {} : { before: BigInt(before) }), after: BigInt(after), reason, message };
  };

  pause: weightsV1.WeightsServiceImplementation["pause"] = async ({ rebalance }, { signal }) => {
    await this.#annotate(keyOf("Pause", rebalance), "true", signal);
    return {};
  };

  resume: weightsV1.WeightsServiceImplementation["resume"] = async ({ rebalance }, { signal }) => {
    await this.#annotate(keyOf("Resume", rebalance), null, signal);
    return {};
  };

  /** The state after the last reconcile. A replica that does not lead reads the current state instead. */
  async #snapshot(key: string, assumed: MetricReading, signal: AbortSignal): Promise<WeightSnapshot> {
    const { board, observer } = this.#options;
    const outcome = board.outcome(key);
    if (outcome) return snapshotAfter(outcome);
    const parsed = parseRebalance(this.#known(key));
    if (!parsed.ok) throw new rpcErrors.BadRequest({ method: "Preview", fault: parsed.errors.join("; ") });
    return (await observer.observe(parsed.value, NO_MEMORY, signal, [assumed])).snapshot;
  }

  #known(key: string): StoredRebalance {
    const object = this.#options.store.get(key);
    if (!object) throw new rpcErrors.NotFound({ what: `Rebalance ${key}` });
    return object;
  }

  async #annotate(key: string, value: string | null, signal: AbortSignal): Promise<void> {
    const { namespace, name = "" } = this.#known(key).metadata;
    const body = { metadata: { annotations: { [PAUSED]: value } } };
    await this.#options.rebalances.patch({ namespace, name }, { type: "merge", body }, { signal });
  }

  /** Changes that come faster than they are read become one. */
  async *#watch(selected: (key: string) => boolean, signal: AbortSignal): AsyncGenerator<{ event: BoardEvent }> {
    const { board } = this.#options;
    const changed = new Set(board.keys().filter(selected));
    let wake: () => void = () => undefined;
    const end = board.subscribe((key) => {
      if (!selected(key)) return;
      changed.add(key);
      wake();
    });
    const stop = () => wake();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        for (const key of changed) {
          changed.delete(key);
          yield { event: eventOf(key, board) };
        }
        if (changed.size === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      end();
      signal.removeEventListener("abort", stop);
    }
  }
}

function eventOf(key: string, board: WeightBoard): BoardEvent {
  const weight = board.get(key);
  if (weight) return { $case: "weight", value: weight };
  const [namespace = "", name = ""] = key.split("/");
  return { $case: "removed", value: { namespace, name } };
}

function selects(method: string, { namespace, name }: { namespace: string; name: string }): (key: string) => boolean {
  if (name !== "" && namespace === "") {
    throw new rpcErrors.BadRequest({ method, fault: "a name needs its namespace" });
  }
  if (name !== "") return (key) => key === `${namespace}/${name}`;
  return (key) => namespace === "" || key.startsWith(`${namespace}/`);
}

function keyOf(method: string, rebalance: weightsV1.Rebalance | undefined): string {
  if (!rebalance?.namespace || !rebalance.name) {
    throw new rpcErrors.BadRequest({ method, fault: "rebalance.namespace and rebalance.name are needed" });
  }
  return `${rebalance.namespace}/${rebalance.name}`;
}
