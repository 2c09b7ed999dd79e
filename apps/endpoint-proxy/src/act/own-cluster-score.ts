import { CLUSTER_SCORE, parseClusterScore } from "@evenkeel/api";
import { type ForeignLease, kubeErrors, lastLook, type ReadStore, type Resource } from "@evenkeel/kube";
import type { Clock, Logger, Term } from "@evenkeel/runtime";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import { type OwnName, ownName, ownRegion } from "../decide/own-name.ts";
import { layoutOf, layoutWith, VERSION_LAYOUT } from "../members/stored-layouts.ts";
import { ownClusterScore } from "../members/own-member.ts";
import type { ClusterIdentity } from "../observe/cluster-identity.ts";
import type { ClusterNodes } from "../observe/cluster-nodes.ts";

export interface OwnClusterScoreOptions {
  readonly resource: Pick<Resource<StoredClusterScore>, "create" | "patch">;
  readonly store: Pick<ReadStore<StoredClusterScore>, "get" | "values" | "whenSynced">;
  readonly nodes: Pick<ClusterNodes, "regions" | "whenSynced">;
  readonly identity: Pick<ClusterIdentity, "uid">;
  readonly original: Pick<ForeignLease, "live">;
  readonly namespace: string;
  readonly clusterName: string | undefined;
  /** What the own ClusterScore has as endpoint; only for readers. */
  readonly endpoint: string;
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the ClusterScore of the own cluster: it is made once, keeps its name, and follows the nodes' region. */
export class OwnClusterScore {
  readonly #options: OwnClusterScoreOptions;
  #taken: OwnName | undefined;

  constructor(options: OwnClusterScoreOptions) {
    this.#options = options;
  }

  /** What there is to say about the region and the name. */
  naming(): Omit<OwnName, "name"> {
    return this.#taken ?? ownRegion(this.#options.nodes.regions());
  }

  async keep(term: Pick<Term, "signal" | "held">): Promise<void> {
    const { signal, held } = term;
    const { store, nodes, original, resource, namespace, dryRun } = this.#options;
    await Promise.all([store.whenSynced(signal), nodes.whenSynced(signal)]);
    if (dryRun || (await original.live()) !== null || !held()) return;
    const object = ownClusterScore(store.values());
    if (object === undefined) return this.#create(signal);
    const { name = "", deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) return;
    const body = this.#correction(object);
    if (body === undefined) return;
    const beforeSend = lastLook(store, object, term);
    await resource.patch({ namespace, name }, { type: "merge", body }, { signal, beforeSend });
  }

  /** What the object lacks: the present region, and a place for each member in the versions of merged objects. */
  #correction(object: StoredClusterScore): object | undefined {
    const { store, nodes, clock } = this.#options;
    const { region } = ownRegion(nodes.regions());
    const parsed = parseClusterScore(object);
    const isRegionRight = region === null || !parsed.ok || parsed.value.spec.region === region;
    const { name: ownName = "", annotations } = object.metadata;
    const names = Array.from(store.values(), ({ metadata }) => metadata.name ?? "").filter((name) => name !== ownName);
    const layout = layoutOf(annotations?.[VERSION_LAYOUT]);
    const next = layoutWith(layout, [ownName, ...names.sort()], clock.now());
    if (isRegionRight && next === layout) return undefined;
    return {
      ...(next !== layout && { metadata: { annotations: { [VERSION_LAYOUT]: JSON.stringify(next) } } }),
      ...(!isRegionRight && { spec: { region } }),
    };
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { store, nodes, identity, resource, namespace, clusterName = null, endpoint, log } = this.#options;
    const taken = Array.from(store.values(), ({ metadata }) => metadata.name ?? "");
    const clusterUid = await identity.uid(signal);
    const chosen = ownName({ regions: nodes.regions(), clusterName, clusterUid, taken });
    const { name, region, reason, message } = chosen;
    const { group, version, kind } = CLUSTER_SCORE;
    const spec = { endpoint, owncluster: true, ...(region !== null && { region }) };
    try {
      await resource.create(
        { apiVersion: `${group}/${version}`, kind, metadata: { namespace, name }, spec },
        { signal },
      );
    } catch (error) {
      // Seen in the next run: the store then has it.
      if (!(error instanceof kubeErrors.AlreadyExists)) throw error;
      return;
    }
    this.#taken = reason === "NameTaken" ? chosen : undefined;
    log.info({ name, region, reason }, message);
  }
}
