import type { ElastiService } from "@evenkeel/api";
import { type KubeClient, kubeErrors, type ReadStore, type Resource, type Service } from "@evenkeel/kube";
import { CodedError, explain } from "@evenkeel/runtime";
import { elastiServices, PAUSED, type StoredElastiService } from "../elasti-service-resource.ts";
import { selectorFaults } from "../observe/label-match.ts";
import { listWorkloads } from "../observe/workload-of.ts";
import { type LeftOut, planChildren, SELECTED_BY, type SelectionPlan } from "./children-plan.ts";
import { BadSelector } from "./path-errors.ts";

export interface SelectionsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  readonly store: Pick<ReadStore<StoredElastiService>, "values" | "whenSynced">;
  readonly services: Pick<ReadStore<Service>, "values" | "whenSynced">;
  /** `namespace/name` of the Service before the replicas of this program, where there is one. */
  readonly own?: string | undefined;
}

export interface Selection {
  /** Services that have an ElastiService of their own now. */
  readonly selected: number;
  readonly left: readonly LeftOut[];
}

/** Keeps an ElastiService for each Service that another one selects. */
export class Selections {
  readonly #options: SelectionsOptions;
  readonly #children: Resource<StoredElastiService>;

  constructor(options: SelectionsOptions) {
    this.#options = options;
    this.#children = options.kube.resource(elastiServices);
  }

  /**
   * Creates, changes and deletes the children of `parent`; a parent that is paused keeps those that it has. What the API server refuses for good is left out and said;
   * what may work later rejects, and the next call goes on from there.
   *
   * @throws BadSelector
   */
  async sync(parent: ElastiService, signal: AbortSignal): Promise<Selection> {
    const faults = selectorFaults(parent.spec.selector ?? {});
    if (faults.length > 0) throw new BadSelector({ faults: faults.join("; ") });
    const plan = await this.#plan(parent, signal);
    if (parent.metadata.annotations?.[PAUSED] === "true") return { selected: plan.selected, left: plan.left };
    const refused = await this.#executor(plan, signal);
    return { selected: plan.selected - refused.length, left: [...plan.left, ...refused] };
  }

  async #plan(parent: ElastiService, signal: AbortSignal): Promise<SelectionPlan> {
    const { kube, store, services, own } = this.#options;
    const { namespace = "" } = parent.metadata;
    // Before all is in, a Service that is missing means nothing, and its child would be deleted.
    await Promise.all([store.whenSynced(signal), services.whenSynced(signal)]);
    const workloads = await listWorkloads(kube, namespace, { signal });
    const here = <T extends { readonly metadata: { readonly namespace?: string } }>(all: Iterable<T>): readonly T[] =>
      [...all].filter(({ metadata }) => metadata.namespace === namespace);
    return planChildren({
      ...{ parent, workloads, services: here(services.values()), objects: here(store.values()) },
      own: own?.startsWith(`${namespace}/`) ? own.slice(namespace.length + 1) : undefined,
    });
  }

  async #executor({ create, change, remove }: SelectionPlan, signal: AbortSignal): Promise<readonly LeftOut[]> {
    for (const child of remove) await this.#delete(child, signal);
    const refused: LeftOut[] = [];
    const attempt = async ({ spec }: StoredElastiService, write: () => Promise<unknown>): Promise<void> => {
      try {
        await write();
      } catch (error) {
        // Made or gone a moment ago, by this program or not: the next look will show it.
        if (error instanceof kubeErrors.AlreadyExists || error instanceof kubeErrors.NotFound) return;
        if (!(error instanceof CodedError) || error.recovery === "retryable") throw error;
        refused.push({ service: (spec as { readonly service: string }).service, why: explain(error) });
      }
    };
    for (const child of create) await attempt(child, () => this.#children.create(child, { signal }));
    for (const { present, wanted } of change) await attempt(wanted, () => this.#change(present, wanted, signal));
    return refused;
  }

  /** Of the spec everything is the parent's; of the metadata, the label alone. */
  #change(present: StoredElastiService, wanted: StoredElastiService, signal: AbortSignal): Promise<unknown> {
    const { namespace, name = "", uid, labels = {} } = present.metadata;
    const value = { ...labels, [SELECTED_BY]: wanted.metadata.labels?.[SELECTED_BY] };
    return this.#children.patch(
      { namespace, name },
      {
        type: "json",
        operations: [
          { op: "test", path: "/metadata/uid", value: uid },
          { op: "add", path: "/metadata/labels", value },
          { op: "add", path: "/spec", value: wanted.spec },
        ],
      },
      { signal },
    );
  }

  /** Its own finalizer keeps it until its workload is awake. */
  async #delete(
    { metadata: { namespace, name = "", uid = "" } }: StoredElastiService,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#children.delete({ namespace, name }, { signal, preconditions: { uid } });
    } catch (error) {
      if (!(error instanceof kubeErrors.NotFound || error instanceof kubeErrors.Conflict)) throw error;
    }
  }
}
