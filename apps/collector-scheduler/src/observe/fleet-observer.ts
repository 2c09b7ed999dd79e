import type { CollectorLoadBalancerSpec } from "@evenkeel/api";
import { type ForeignLease, isPaused, type StatefulSet } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import type { Clock } from "@evenkeel/runtime";
import { collectorsName } from "../act/collector-objects.ts";
import type { StoredCollectorLoadBalancer } from "../collector-load-balancer-resource.ts";
import { type Assignments, NO_ASSIGNMENTS, type Poll } from "../decide/assignments.ts";
import { Owners } from "../decide/owners.ts";
import { drainedForRestart } from "../decide/restarts.ts";
import type { FleetSnapshot } from "../decide/snapshot.ts";
import { snapshotOf } from "../decide/snapshot-of.ts";
import type { Fleet } from "../fleet.ts";
import type { FleetLoads } from "./fleet-loads.ts";
import type { Seats, ZoneOf } from "./collectors.ts";
import type { PollReports } from "../serve/poll-reports.ts";
import type { FollowedAutoscalers } from "./follow-autoscalers.ts";
import type { FollowedCollectors } from "./follow-collectors.ts";
import { fleetSettings, scaleSettings } from "./fleet-settings.ts";
import { restartState } from "./restart-state.ts";
import { silentCollectors } from "./silent-collectors.ts";

export interface FleetObserverOptions {
  readonly collectors: {
    readonly statefulSets: Pick<FollowedCollectors["statefulSets"], "get">;
    readonly pods: Pick<FollowedCollectors["pods"], "by">;
  };
  readonly seats: Seats;
  readonly zoneOf: ZoneOf;
  readonly original: Pick<ForeignLease, "live">;
  readonly loads: Pick<FleetLoads, "refresh" | "stale" | "weigh">;
  /** Of all replicas. */
  readonly polls: (fleet: Fleet) => Promise<readonly Poll[]>;
  readonly lastPolls: PollReports["lastPolls"];
  readonly autoscalers: Pick<FollowedAutoscalers["store"], "by">;
  readonly clock: Clock;
}

/** What was seen of one CollectorLoadBalancer. */
export interface FleetSight {
  readonly snapshot: FleetSnapshot;
  /** What the decision is made on; null while that is not certain. */
  readonly recorded: Assignments | null;
  readonly statefulSet: StatefulSet | undefined;
  /** Names of HorizontalPodAutoscalers that scale the object. */
  readonly autoscalers: readonly string[];
  /** Collectors that are ready and do not ask for their targets; see {@link silentCollectors}. */
  readonly silent: readonly string[];
  /** Why the numbers of series are old; see {@link FleetLoads.stale}. */
  readonly staleLoads: string | null;
}

/** Milliseconds after which a source that has not answered is no longer waited for. */
const WAIT_FOR_SOURCES = 60_000;

/** Turns the world into the snapshot of a decision. */
export class FleetObserver {
  readonly #options: FleetObserverOptions;

  constructor(options: FleetObserverOptions) {
    this.#options = options;
  }

  async observe(
    object: StoredCollectorLoadBalancer,
    spec: CollectorLoadBalancerSpec,
    fleet: Fleet,
    { term }: Pick<ObjectContext, "term">,
  ): Promise<FleetSight> {
    const { collectors, seats, zoneOf, loads, polls, clock } = this.#options;
    const { namespace = "", name = "", uid = "" } = object.metadata;
    const recorded = await fleet.records.recall(term);
    const stop = await this.#stop(fleet, recorded);
    const seen = await polls(fleet);
    const known = (recorded ?? fleet.owners?.assignments)?.members.map((member) => member.name) ?? [];
    const asked = await this.#options.lastPolls(fleet, known);
    const loadFault = loads.refresh(fleet, spec);
    // All that follows is of one moment.
    const key = `${namespace}/${collectorsName(name)}`;
    const statefulSet = collectors.statefulSets.get(key);
    const now = clock.now();
    const owners = (recorded === null ? fleet.owners : new Owners(recorded, fleet.owners)) ?? NOTHING_OWNED;
    const members = owners.assignments.members.map((member) => member.name);
    const pods = [...collectors.pods.by("set", key)];
    const found = seats.observe({ uid, statefulSet, pods, members, zoneOf, now });
    const at = new Date(now).toISOString();
    const settings = fleetSettings(spec, fleet.jobs);
    const scale = scaleSettings(spec, statefulSet?.spec?.replicas ?? 0, fleet.catalogue.targets.size);
    const restart = restartState(spec, statefulSet, pods);
    const snapshot = snapshotOf({
      at,
      namespace,
      name,
      paused: isPaused(object),
      dryRun: spec.dryRun ?? false,
      stop,
      settings,
      scale,
      restart,
      targetCount: fleet.catalogue.answered ? fleet.catalogue.targets.size : null,
      loadFault,
      collectors: found,
      drain: drainedForRestart({ at, settings, scale, restart, collectors: found }),
      owners,
      targets: loads.weigh(fleet, spec),
      polls: seen,
    });
    const scalers = [...this.#options.autoscalers.by("object", `${namespace}/${name}`)];
    const autoscalers = scalers.map(({ metadata }) => metadata.name ?? "").sort();
    const silent = silentCollectors(snapshot, fleet, asked, spec);
    return { snapshot, recorded, statefulSet, autoscalers, silent, staleLoads: loads.stale(fleet) };
  }

  async #stop(fleet: Fleet, recorded: Assignments | null): Promise<FleetSnapshot["stop"]> {
    const original = await this.#options.original.live();
    if (original !== null) {
      const message = `The original collector-load-balancer runs as ${original}: uninstall it, or delete its Lease`;
      return { reason: "OriginalRuns", message };
    }
    if (recorded === null) {
      return { reason: "StateAway", message: "The shared state does not answer, so no target moves: see --state" };
    }
    if (fleet.configuration === undefined) {
      return { reason: "Waiting", message: `spec.collectorConfig cannot be read: ${fleet.fault ?? "it is absent"}` };
    }
    if (!fleet.catalogue.answered && this.#options.clock.now() - fleet.since < WAIT_FOR_SOURCES) {
      return { reason: "Waiting", message: "Not every source has answered yet: see the condition TargetsDiscovered" };
    }
    return null;
  }
}

const NOTHING_OWNED = new Owners(NO_ASSIGNMENTS);
