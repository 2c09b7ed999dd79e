import { type CollectorLoadBalancerSpec, parseCollectorLoadBalancer } from "@evenkeel/api";
import { nameKey, type ReadStore } from "@evenkeel/kube";
import { objectNamed } from "@evenkeel/operator";
import { collectorsV1, rpcErrors, type Served } from "@evenkeel/rpc";
import type { Clock } from "@evenkeel/runtime";
import { collectorsName } from "../act/collector-objects.ts";
import type { StoredCollectorLoadBalancer } from "../collector-load-balancer-resource.ts";
import type { Owners } from "../decide/owners.ts";
import type { LoadedMember } from "../decide/snapshot.ts";
import type { Weighed } from "../decide/snapshot-of.ts";
import { whatIf } from "../decide/what-if.ts";
import type { Fleet } from "../fleet.ts";
import type { Fleets } from "../fleets.ts";
import type { TargetQuery } from "../observe/explanation.ts";
import { fleetSettings } from "../observe/fleet-settings.ts";
import { assignmentPage, MOST_COLLECTORS } from "./assignment-page.ts";
import { loadRange } from "./fleet-view.ts";
import { targetExplanation } from "./target-explanation.ts";

export interface CollectorsServiceOptions {
  readonly fleets: Pick<Fleets, "get">;
  readonly store: Pick<ReadStore<StoredCollectorLoadBalancer>, "get">;
  /** What each target of a fleet costs its collector. */
  readonly weigh: (fleet: Fleet, spec: CollectorLoadBalancerSpec) => Iterable<Weighed>;
  readonly clock: Clock;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** `evenkeel.collectors.v1.Collectors`. */
export function collectorsService(options: CollectorsServiceOptions): Served<collectorsV1.CollectorsDefinition> {
  return {
    definition: collectorsV1.CollectorsDefinition,
    implementation: new CollectorsService(options),
    namesObjects: true,
  };
}

class CollectorsService implements collectorsV1.CollectorsServiceImplementation {
  readonly #options: CollectorsServiceOptions;

  constructor(options: CollectorsServiceOptions) {
    this.#options = options;
  }

  assignments: collectorsV1.CollectorsServiceImplementation["assignments"] = (request) => {
    const { fleet, owners, spec } = this.#known("Assignments", request);
    return Promise.resolve(assignmentPage(fleet, owners, this.#options.weigh(fleet, spec), request));
  };

  explain: collectorsV1.CollectorsServiceImplementation["explain"] = (request) => {
    const { fleet, owners } = this.#known("Explain", request);
    return Promise.resolve(targetExplanation(fleet, owners, queryOf(request)));
  };

  whatIf: collectorsV1.CollectorsServiceImplementation["whatIf"] = (request) => {
    const { fleet, owners, spec } = this.#known("WhatIf", request);
    const { replicas } = request;
    if (replicas < 1 || replicas > MOST_COLLECTORS) {
      throw new rpcErrors.BadRequest({ method: "WhatIf", fault: `replicas must be 1 to ${MOST_COLLECTORS}` });
    }
    const targets = [...this.#options.weigh(fleet, spec)];
    const set = collectorsName(request.name);
    const { before, after, movedTargets, movedLoad } = whatIf({
      ...{
        replicas,
        owners,
        targets,
        settings: fleetSettings(spec, fleet.jobs),
        nameOf: (ordinal) => `${set}-${ordinal}`,
      },
      at: new Date(this.#options.clock.now()).toISOString(),
    });
    const total = targets.reduce((sum, { load }) => sum + load, 0);
    const share = total === 0 ? 0 : (movedLoad / total) * 100;
    const { maxOverMean } = loadRange({ members: after });
    const fullest = maxOverMean === null ? "" : `; the fullest would have ${maxOverMean.toFixed(2)} of the mean load`;
    return Promise.resolve({
      ...{ before: levelOf(before), after: levelOf(after), movedTargets, movedLoad },
      message: `${movedTargets} of ${targets.length} targets (${share.toFixed(1)} % of the load) would move${fullest}`,
    });
  };

  #known(method: string, request: Named): { fleet: Fleet; owners: Owners; spec: CollectorLoadBalancerSpec } {
    const { fleets, store } = this.#options;
    const key = nameKey(objectNamed(method, "the request", request));
    const [object, fleet] = [store.get(key), fleets.get(key)];
    if (object === undefined || fleet === undefined) {
      throw new rpcErrors.NotFound({ what: `CollectorLoadBalancer ${key}` });
    }
    const parsed = parseCollectorLoadBalancer(object);
    if (!parsed.ok) throw new rpcErrors.BadRequest({ method, fault: parsed.errors.join("; ") });
    if (fleet.owners === undefined) {
      throw new rpcErrors.NotFound({ what: `The assignments of ${key}, because the state has not answered yet,` });
    }
    return { fleet, owners: fleet.owners, spec: parsed.value.spec };
  }
}

function queryOf({ labels, address, pod }: collectorsV1.ExplainRequest): TargetQuery {
  const refuse = (fault: string) => new rpcErrors.BadRequest({ method: "Explain", fault });
  if (labels.length === 0 && address === "" && pod === "") throw refuse("give labels, an address or a pod");
  if (pod !== "" && !/^[^/]+\/[^/]+$/.test(pod)) throw refuse("pod is not <namespace>/<name>");
  const pairs = labels.map((text): [string, string] => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) throw refuse("each of labels is <name>=<value>");
    return [name, value];
  });
  return {
    ...(pairs.length > 0 && { labels: Object.fromEntries(pairs) }),
    ...(address !== "" && { address }),
    ...(pod !== "" && { pod }),
  };
}

function levelOf(members: readonly LoadedMember[]): collectorsV1.Level {
  const { maxOverMean, minOverMean } = loadRange({ members });
  return {
    collectors: members
      .slice(0, MOST_COLLECTORS)
      .map(({ name, zone = "", node = "", leaving = false, targets, load }) => {
        return { name, zone, node, leaving, targets, load };
      }),
    targets: members.reduce((sum, { targets }) => sum + targets, 0),
    load: members.reduce((sum, { load }) => sum + load, 0),
    ...(maxOverMean !== null && { maxOverMean }),
    ...(minOverMean !== null && { minOverMean }),
  };
}
