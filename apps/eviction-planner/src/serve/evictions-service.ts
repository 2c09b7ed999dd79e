import { parseRebalancePolicy, type RebalancePolicySpec } from "@evenkeel/api";
import type { ReadStore, Resource } from "@evenkeel/kube";
import { objectFilter, objectNamed, type Pausing, pausing, watchBoard } from "@evenkeel/operator";
import { evictionsV1, rpcErrors, type Served } from "@evenkeel/rpc";
import type { EvictionRecord } from "../decide/evictions.ts";
import { MOST_EVICTIONS, type Recall } from "../observe/planning.ts";
import { rebalancePolicies, type StoredPolicy } from "../policy-resource.ts";
import { explanationOf, verdictOn } from "./pod-verdict.ts";
import { planView, type PolicyBoard } from "./plan-view.ts";
import { readablePolicy, type Studies } from "./studies.ts";
import { whatIfAnswer } from "./what-if.ts";

export interface EvictionsServiceOptions {
  readonly board: PolicyBoard;
  readonly store: Pick<ReadStore<StoredPolicy>, "get" | "values">;
  readonly policies: Pick<Resource<StoredPolicy>, "patch">;
  readonly studies: Studies;
  /** The policy for the namespaces whose pods may be evicted. */
  readonly narrowed: (spec: RebalancePolicySpec) => RebalancePolicySpec;
  /** What the leader remembers of evictions; undefined where this replica does not lead. */
  readonly record: () => EvictionRecord | undefined;
  /** What a plan of the policy that is carried out remembers. */
  readonly recall: (policy: string) => Recall;
}

interface Named {
  readonly policy: string;
}

type Implementation = evictionsV1.EvictionsServiceImplementation;

/** Policies that one Explain looks at: each takes a plan. */
const MOST_EXPLAINED = 20;

/** `evenkeel.evictions.v1.Evictions`. */
export function evictionsService(options: EvictionsServiceOptions): Served<evictionsV1.EvictionsDefinition> {
  const pauses = pausing<Named>({
    type: rebalancePolicies,
    resource: options.policies,
    asked: ({ policy }) => ({ namespace: "", name: policy }),
    known: (method, request) => {
      const { name = "" } = knownPolicy(options, method, request).metadata;
      return { namespace: "", name };
    },
  });
  return {
    definition: evictionsV1.EvictionsDefinition,
    implementation: new EvictionsService(options, pauses.methods),
    access: pauses.access,
  };
}

class EvictionsService implements Implementation {
  readonly pause: Implementation["pause"];
  readonly resume: Implementation["resume"];
  readonly #options: EvictionsServiceOptions;

  constructor(options: EvictionsServiceOptions, { pause, resume }: Pausing<Named>["methods"]) {
    this.#options = options;
    this.pause = pause;
    this.resume = resume;
  }

  plan: Implementation["plan"] = (request) => {
    const { board } = this.#options;
    if (request.policy !== "") knownPolicy(this.#options, "Plan", request);
    const plans = board
      .keys()
      .filter(selected("Plan", request))
      .flatMap((key) => {
        const [view, shown] = [board.get(key), board.shown(key)];
        if (view === undefined) return [];
        const plan = request.policy === "" || shown === undefined ? view.plan : planView(shown, MOST_EVICTIONS);
        return [{ ...view, ...(plan !== undefined && { plan }) }];
      });
    return Promise.resolve({ plans });
  };

  watch: Implementation["watch"] = (request, { signal }) =>
    watchBoard(this.#options.board, {
      selects: selected("Watch", request),
      event: (value) => ({ $case: "plan", value }) as const,
      signal,
    });

  whatIf: Implementation["whatIf"] = async (request, { signal }) => {
    const { studies, narrowed } = this.#options;
    const { budget = MOST_EVICTIONS, targetSigma, hotThreshold, prices } = request;
    const refuse = (fault: string) => new rpcErrors.BadRequest({ method: "WhatIf", fault });
    if (budget > MOST_EVICTIONS) throw refuse(`budget must be 0 to ${MOST_EVICTIONS}`);
    for (const [field, value] of Object.entries({ targetSigma, hotThreshold })) {
      if (value !== undefined && !(value >= 0 && value <= 1)) throw refuse(`${field} must be 0 to 1`);
    }
    const { name, spec } = readablePolicy("WhatIf", knownPolicy(this.#options, "WhatIf", request));
    const assumed: RebalancePolicySpec = {
      ...narrowed(spec),
      ...(targetSigma !== undefined && { targetSigma }),
      ...(hotThreshold !== undefined && { hotThreshold }),
    };
    const asked = { budget, prices, band: null };
    const { answer, usageFault } = await studies.study({ name, spec: assumed }, () => null, asked, signal);
    return whatIfAnswer(answer, usageFault);
  };

  explain: Implementation["explain"] = async (request, { signal }) => {
    const { pod, policy } = request;
    if (!/^[^/]+\/[^/]+$/.test(pod)) {
      throw new rpcErrors.BadRequest({ method: "Explain", fault: "pod is not <namespace>/<name>" });
    }
    const { store, studies, narrowed, recall } = this.#options;
    const objects =
      policy === ""
        ? Array.from(store.values())
            .filter((object) => parseRebalancePolicy(object).ok)
            .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
        : [knownPolicy(this.#options, "Explain", request)];
    const verdicts = [];
    for (const object of objects.slice(0, MOST_EXPLAINED)) {
      const { name, spec } = readablePolicy("Explain", object);
      const asked = { budget: MOST_EVICTIONS, prices: false, band: null, pod };
      const remembered = spec.dryRun ? () => null : recall(name);
      const { answer } = await studies.study({ name, spec: narrowed(spec) }, remembered, asked, signal);
      if (answer.explanation === null) throw new rpcErrors.NotFound({ what: `Pod ${pod}` });
      verdicts.push({ node: answer.explanation.node ?? "", verdict: verdictOn(name, pod, answer) });
    }
    return explanationOf(pod, verdicts);
  };

  history: Implementation["history"] = (request) => {
    const { board, record } = this.#options;
    const { name = "" } = knownPolicy(this.#options, "History", request).metadata;
    const points = board.shown(name)?.history.points() ?? [];
    return Promise.resolve({
      points: points.map(({ at, ...values }) => ({ at: new Date(at).toISOString(), ...values })),
      evictions: (record()?.evictions ?? []).toReversed().map((eviction) => ({
        at: new Date(eviction.at).toISOString(),
        pod: `${eviction.namespace}/${eviction.pod}`,
        policy: eviction.policy,
        from: eviction.from,
        landed: eviction.landed ?? "",
        underWay: eviction.landed === null,
      })),
    });
  };
}

function selected(method: string, { policy }: Named): (key: string) => boolean {
  return objectFilter(method, { namespace: "", name: policy }, false);
}

function knownPolicy({ store }: Pick<EvictionsServiceOptions, "store">, method: string, request: Named): StoredPolicy {
  const { name } = objectNamed(method, "policy", { namespace: "", name: request.policy }, false);
  const object = store.get(name);
  if (object === undefined) throw new rpcErrors.NotFound({ what: `RebalancePolicy ${name}` });
  return object;
}
