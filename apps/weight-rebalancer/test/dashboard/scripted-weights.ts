import { dashboard, dashboardSettings } from "@evenkeel/dashboard";
import { RunningService } from "@evenkeel/dashboard/testing";
import { nameOfKey } from "@evenkeel/kube";
import {
  type Authorizer,
  decisionsService,
  rpcServer,
  rpcSettings,
  type weightsV1,
  weightsV1 as v1,
} from "@evenkeel/rpc";
import { type Decider, runtimeSettings, type Snapshot, type Verdict } from "@evenkeel/runtime";
import { WEIGHT_ACTIONS, WEIGHT_REASONS } from "../../src/decide/weight-decider.ts";

type Point = weightsV1.Point;

/** Its snapshot is its verdict: what is decided here is written down by the test. */
interface Script extends Snapshot {
  readonly verdict: Verdict;
}

const decider: Decider<Script> = {
  actions: WEIGHT_ACTIONS,
  reasons: WEIGHT_REASONS,
  decide: ({ verdict }) => verdict,
};

const definition = {
  name: "weight-rebalancer",
  summary: "keeps load level across sites",
  version: "0.1.0",
  settings: { ...runtimeSettings, ...rpcSettings, ...dashboardSettings },
  metrics: {},
  decider,
};

/** Who may pause: the holder of the token `captain`. */
const authorizer: Authorizer = {
  authorize: (token) => Promise.resolve({ allowed: token === "captain", ...(token !== "nobody" && { user: token }) }),
};

/** weight-rebalancer's doors with answers that the test writes: real gateway, real streams, no cluster behind. */
export class ScriptedWeights extends RunningService<typeof definition.settings, typeof decider> {
  readonly weights = new Map<string, weightsV1.DeepPartial<weightsV1.Weight>>();
  readonly points = new Map<string, weightsV1.DeepPartial<Point>[]>();
  readonly paused: string[] = [];
  readonly previews: number[] = [];
  #wake = Promise.withResolvers<undefined>();

  constructor(main: string, args: readonly string[] = []) {
    super(definition, ["--insecure", "--grpc-port=0", ...args]);
    const { service } = this;
    const rpc = rpcServer(service, "insecure", authorizer);
    rpc.add(decisionsService({ source: service.decisions.ring, recording: (id) => service.decisions.recording(id) }));
    const permission = () => ({
      verb: "patch",
      object: { group: "g", resource: "rebalances", namespace: "", name: "" },
    });
    rpc.add({
      definition: v1.WeightsDefinition,
      implementation: this.#implementation(),
      access: { pause: permission, resume: permission },
    });
    rpc.serveJson(service.admin.routes, { reads: "open", objects: [] });
    dashboard(service, main);
    service.open(rpc);
  }

  /** Says what a Rebalance is now. */
  set(key: string, weight: Partial<weightsV1.DeepPartial<weightsV1.Weight>>): void {
    const { namespace = "", name } = nameOfKey(key);
    this.weights.set(key, { rebalance: { namespace, name }, ...this.weights.get(key), ...weight });
    this.#tell();
  }

  decide(key: string, at: Date, verdict: Omit<Verdict, "object">): void {
    const { namespace = "", name } = nameOfKey(key);
    const object = { kind: "Rebalance", namespace, name };
    this.service.decisions.decide({ at: at.toISOString(), verdict: { ...verdict, object } });
  }

  #tell(): void {
    this.#wake.resolve(undefined);
    this.#wake = Promise.withResolvers();
  }

  #implementation(): weightsV1.WeightsServiceImplementation {
    const keyOf = (rebalance: weightsV1.Rebalance | undefined) =>
      `${rebalance?.namespace ?? ""}/${rebalance?.name ?? ""}`;
    const setPaused = (rebalance: weightsV1.Rebalance | undefined, paused: boolean) => {
      this.paused.push(`${keyOf(rebalance)} ${paused}`);
      this.set(keyOf(rebalance), { paused });
      return Promise.resolve({});
    };
    return {
      get: () => Promise.resolve({ weights: [...this.weights.values()] }),
      watch: (_request, { signal }) => this.#watch(signal),
      history: ({ rebalance }) => Promise.resolve({ points: this.points.get(keyOf(rebalance)) ?? [] }),
      preview: ({ rebalance, metric }) => {
        this.previews.push(metric);
        const {
          desired = 0n,
          targetValue = 1,
          baseValue = 0n,
          minimum = 0n,
        } = this.weights.get(keyOf(rebalance)) ?? {};
        const after = Math.max(Number(minimum), Math.ceil(Number(baseValue) * (metric / targetValue - 1)));
        const message = `Metric ${Math.round(metric)} asks for a weight of ${after}`;
        return Promise.resolve({ before: desired, after: BigInt(after), reason: "TargetTracking", message });
      },
      pause: ({ rebalance }) => setPaused(rebalance, true),
      resume: ({ rebalance }) => setPaused(rebalance, false),
    };
  }

  async *#watch(signal: AbortSignal): AsyncGenerator<weightsV1.DeepPartial<weightsV1.WatchResponse>> {
    const told = new Map<string, unknown>();
    const gone = new Promise((resolve) => signal.addEventListener("abort", resolve));
    while (!signal.aborted) {
      const wake = this.#wake.promise;
      for (const [key, weight] of this.weights) {
        if (told.get(key) === weight) continue;
        told.set(key, weight);
        yield { event: { $case: "weight", value: weight } };
      }
      for (const key of told.keys()) {
        if (this.weights.has(key)) continue;
        told.delete(key);
        const { namespace = "", name } = nameOfKey(key);
        yield { event: { $case: "removed", value: { namespace, name } } };
      }
      await Promise.race([wake, gone]);
    }
  }

  remove(key: string): void {
    this.weights.delete(key);
    this.#tell();
  }
}
