import { controllerOf } from "@evenkeel/kube";
import { matcherOf } from "@evenkeel/placement";
import type { Clock } from "@evenkeel/runtime";
import { type GoSnapshot, type GoVerdict, goOrNot, type PeerAnswer } from "../decide/go.ts";
import { type PlanSnapshot, POD, UNKNOWN } from "../decide/snapshot.ts";
import type { FollowedCluster } from "../observe/cluster/follow-cluster.ts";
import type { ObservedPod } from "../observe/cluster/observed-pod.ts";
import { disruptionBudgetRow } from "../observe/snapshot/disruption-budgets.ts";
import type { Move } from "./wave.ts";

export interface LastCheckOptions {
  readonly cluster: Pick<FollowedCluster, "pod" | "objects">;
  readonly clock: Clock;
  /** Milliseconds after which the rest of a plan is dropped. */
  readonly planTtl: number;
}

/** Annotations by which somebody may forbid an eviction at any time. */
const FORBIDDING = POD.pinned | POD.moveForbidden | POD.safeToEvictFalse | POD.doNotDisrupt | POD.mirror;
/** Milliseconds after a refusal for which nothing is evicted under the disruption budget. */
const BLOCKED = 30_000;
/** Milliseconds after which a status that never changed is believed again. */
const UNCHANGED = 60_000;

/** Checks each pod once more just before it goes, on the cluster as it is then. */
export class LastCheck {
  readonly #options: LastCheckOptions;
  /** By `namespace/name`, disruption budgets whose status does not count the last eviction yet, or that refused one. */
  readonly #awaited = new Map<string, { readonly version: string | null; readonly until: number }>();

  constructor(options: LastCheckOptions) {
    this.#options = options;
  }

  go(
    move: Move,
    plan: PlanSnapshot,
    peers: readonly PeerAnswer[],
  ): { readonly verdict: GoVerdict; readonly snapshot: GoSnapshot } {
    const { cluster, clock, planTtl } = this.#options;
    const { namespace, name, uid } = move.pod;
    const pod = cluster.pod(`${namespace}/${name}`);
    const at = clock.now();
    const snapshot: GoSnapshot = {
      question: "go",
      at: new Date(at).toISOString(),
      policy: plan.policy.name,
      pod: { namespace, name, uid, node: move.from },
      planAge: at - plan.at,
      planTtl,
      present: pod === undefined ? null : presentOf(pod),
      disruptionBudgets: pod === undefined ? [] : this.#budgetsOf(pod),
      respectPDB: plan.policy.spec.respectPDB,
      peers,
      siblings: peers.some(({ answer }) => answer === "away") ? this.#siblings(pod) : 0,
    };
    return { verdict: goOrNot(snapshot), snapshot };
  }

  /**
   * Call it before an eviction, and what it returns after it: the disruption budget of the pod then counts again once
   * its status has changed from what it was before.
   */
  expectChange(move: Move): () => void {
    const matching = this.#matching(move);
    return () => {
      const until = this.#options.clock.monotonic() + UNCHANGED;
      for (const { id, version } of matching) this.#awaited.set(id, { version, until });
    };
  }

  /** The API server refused an eviction under the budgets of this pod, although their status allowed it. */
  blocked(move: Move): void {
    const until = this.#options.clock.monotonic() + BLOCKED;
    for (const { id } of this.#matching(move)) this.#awaited.set(id, { version: null, until });
  }

  /** Disruption budgets under which nothing may be evicted now, whatever their status says. */
  awaited(): readonly string[] {
    this.#settle();
    return [...this.#awaited.keys()];
  }

  /** Whether a disruption budget of the pod still waits for its status to follow. */
  isAwaited(move: Move): boolean {
    this.#settle();
    return this.#matching(move).some(({ id }) => (this.#awaited.get(id)?.version ?? null) !== null);
  }

  forget(): void {
    this.#awaited.clear();
  }

  #settle(): void {
    if (this.#awaited.size === 0) return;
    const versions = new Map(
      Array.from(this.#options.cluster.objects().disruptionBudgets, (budget) => [idOf(budget), versionOf(budget)]),
    );
    const now = this.#options.clock.monotonic();
    for (const [id, { version, until }] of this.#awaited) {
      const hasChanged = version !== null && versions.get(id) !== version;
      if (hasChanged || now >= until) this.#awaited.delete(id);
    }
  }

  #budgetsOf(pod: ObservedPod): GoSnapshot["disruptionBudgets"] {
    this.#settle();
    return this.#matchingPod(pod).map(({ id, budget }) => {
      const { disruptionsAllowed, isCurrent } = disruptionBudgetRow(budget);
      return { name: id, allowed: disruptionsAllowed, isCurrent: isCurrent && !this.#awaited.has(id) };
    });
  }

  #matching({ pod: { namespace, name } }: Move) {
    const pod = this.#options.cluster.pod(`${namespace}/${name}`);
    return pod === undefined ? [] : this.#matchingPod(pod);
  }

  #matchingPod({ metadata: { namespace }, template }: ObservedPod) {
    const labels = template.metadata.labels ?? {};
    return Array.from(this.#options.cluster.objects().disruptionBudgets)
      .filter(({ metadata, spec }) => metadata.namespace === namespace && matcherOf(spec?.selector ?? null)(labels))
      .map((budget) => ({ id: idOf(budget), version: versionOf(budget), budget }));
  }

  #siblings(pod: ObservedPod | undefined): number {
    const owner = pod && controllerOf({ metadata: pod.template.metadata })?.uid;
    if (owner === undefined) return 0;
    return Array.from(this.#options.cluster.objects().pods).filter((each) => {
      const { ready, terminating, uid } = presentOf(each);
      return ready && !terminating && uid !== pod?.metadata.uid && isOf(each, owner);
    }).length;
  }
}

function isOf({ template }: ObservedPod, owner: string): boolean {
  return controllerOf({ metadata: template.metadata })?.uid === owner;
}

function presentOf({ metadata, node, readySince, flags }: ObservedPod): NonNullable<GoSnapshot["present"]> {
  return {
    uid: metadata.uid ?? "",
    node,
    terminating: metadata.deletionTimestamp !== undefined,
    ready: readySince !== UNKNOWN,
    forbidden: (flags & FORBIDDING) !== 0,
  };
}

interface Versioned {
  readonly metadata: { readonly namespace?: string; readonly name?: string; readonly resourceVersion?: string };
}

function idOf({ metadata: { namespace = "", name = "" } }: Versioned): string {
  return `${namespace}/${name}`;
}

function versionOf({ metadata }: Versioned): string {
  return metadata.resourceVersion ?? "";
}
