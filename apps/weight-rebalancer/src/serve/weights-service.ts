import { parseRebalance } from "@evenkeel/api";
import { nameKey, type ReadStore, type Resource } from "@evenkeel/kube";
import { objectFilter, objectNamed, type Pausing, pausing, watchBoard } from "@evenkeel/operator";
import { rpcErrors, type Served, weightsV1 } from "@evenkeel/rpc";
import type { Clock } from "@evenkeel/runtime";
import { type MetricReading, NO_MEMORY, type WeightSnapshot } from "../decide/snapshot.ts";
import { weightDecider } from "../decide/weight-decider.ts";
import type { Observer } from "../observe/observer.ts";
import { rebalances, type StoredRebalance } from "../rebalance-resource.ts";
import { snapshotAfter } from "./snapshot-after.ts";
import type { WeightBoard } from "./weight-view.ts";

export interface WeightsServiceOptions {
  readonly board: WeightBoard;
  readonly store: Pick<ReadStore<StoredRebalance>, "get">;
  readonly observer: Observer;
  readonly rebalances: Resource<StoredRebalance>;
  readonly clock: Clock;
}

interface Request {
  readonly rebalance?: weightsV1.Rebalance | undefined;
}

/** `evenkeel.weights.v1.Weights`. */
export function weightsService(options: WeightsServiceOptions): Served<weightsV1.WeightsDefinition> {
  const { store, rebalances: resource } = options;
  const pauses = pausing<Request>({
    type: rebalances,
    resource,
    asked: ({ rebalance }) => rebalance ?? { namespace: "", name: "" },
    known: (method, { rebalance }) => {
      const name = objectNamed(method, "rebalance", rebalance);
      knownRebalance(store, nameKey(name));
      return name;
    },
  });
  return {
    definition: weightsV1.WeightsDefinition,
    implementation: new WeightsService(options, pauses.methods),
    access: pauses.access,
    namesObjects: true,
  };
}

class WeightsService implements weightsV1.WeightsServiceImplementation {
  readonly pause: weightsV1.WeightsServiceImplementation["pause"];
  readonly resume: weightsV1.WeightsServiceImplementation["resume"];
  readonly #options: WeightsServiceOptions;

  constructor(options: WeightsServiceOptions, { pause, resume }: Pausing<Request>["methods"]) {
    this.#options = options;
    this.pause = pause;
    this.resume = resume;
  }

  get: weightsV1.WeightsServiceImplementation["get"] = (request) => {
    const { board } = this.#options;
    const keys = board.keys().filter(objectFilter("Get", request));
    return Promise.resolve({ weights: keys.flatMap((key) => board.get(key) ?? []) });
  };

  watch: weightsV1.WeightsServiceImplementation["watch"] = (request, { signal }) =>
    watchBoard(this.#options.board, {
      selects: objectFilter("Watch", request),
      event: (value) => ({ $case: "weight", value }),
      signal,
    });

  history: weightsV1.WeightsServiceImplementation["history"] = ({ rebalance }) => {
    const shown = this.#options.board.shown(nameKey(objectNamed("History", "rebalance", rebalance)));
    return Promise.resolve({
      points: (shown?.history.points() ?? []).map(({ at, metric, target, desired, actual, share }) => ({
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
    const key = nameKey(objectNamed("Preview", "rebalance", rebalance));
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
    if (after === null)
      throw new rpcErrors.BadRequest({ method: "Preview", fault: `the weight is unknown: ${message}` });
    return { ...(before === null ? {} : { before: BigInt(before) }), after: BigInt(after), reason, message };
  };

  /** The state after the last reconcile. A follower reads the current state instead. */
  async #snapshot(key: string, assumed: MetricReading, signal: AbortSignal): Promise<WeightSnapshot> {
    const { board, store, observer } = this.#options;
    const shown = board.shown(key);
    if (shown) return snapshotAfter(shown.outcome);
    const parsed = parseRebalance(knownRebalance(store, key));
    if (!parsed.ok) throw new rpcErrors.BadRequest({ method: "Preview", fault: parsed.errors.join("; ") });
    return (await observer.observe(parsed.value, NO_MEMORY, signal, [assumed])).snapshot;
  }
}

function knownRebalance(store: WeightsServiceOptions["store"], key: string): StoredRebalance {
  const object = store.get(key);
  if (!object) throw new rpcErrors.NotFound({ what: `Rebalance ${key}` });
  return object;
}
