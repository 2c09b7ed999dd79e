import type { ElastiService } from "@evenkeel/api";
import {
  deleteIfSame,
  type KubeClient,
  kubeErrors,
  type Patch,
  PAUSED,
  type ReadStore,
  type Resource,
  type Service,
} from "@evenkeel/kube";
import { selectorFaults } from "@evenkeel/placement";
import { CodedError, explain } from "@evenkeel/runtime";
import { elastiServices, type StoredElastiService } from "../elasti-service-resource.ts";
import { listWorkloads } from "../observe/workload-of.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import { type LeftOut, planChildren, SELECTED_BY, type SelectionPlan } from "./children-plan.ts";
import { BadSelector } from "./path-errors.ts";

export interface SelectionsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  readonly store: Pick<ReadStore<StoredElastiService>, "values" | "whenSynced">;
  readonly services: Pick<ReadStore<Service>, "values" | "whenSynced">;
  /** `namespace/name` of the Service of this program's own replicas, if it has one. */
  readonly own?: string | undefined;
}

export interface Selection {
  /** Number of Services that have an ElastiService of their own now. */
  readonly selected: number;
  readonly left: readonly LeftOut[];
}

/** Creates and updates an ElastiService for each Service that another ElastiService selects. */
export class Selections {
  readonly #options: SelectionsOptions;
  readonly #children: Resource<StoredElastiService>;

  constructor(options: SelectionsOptions) {
    this.#options = options;
    this.#children = options.kube.resource(elastiServices);
  }

  /**
   * Creates, changes and deletes the children of `parent`. A paused parent keeps its children. A child that the API
   * server refuses permanently is left out and reported. Rejects with an error that a retry may resolve; the next call
   * continues from there.
   *
   * @throws BadSelector
   */
  async sync(parent: ElastiService, context: ActOptions & { readonly signal: AbortSignal }): Promise<Selection> {
    const faults = selectorFaults(parent.spec.selector ?? {}).map(({ field, message }) => `${field}: ${message}`);
    if (faults.length > 0) throw new BadSelector({ faults: faults.join("; ") });
    const plan = await this.#plan(parent, context);
    if (parent.metadata.annotations?.[PAUSED] === "true") return { selected: plan.selected, left: plan.left };
    const refused = await this.#write(plan, context);
    return { selected: plan.selected - refused.length, left: [...plan.left, ...refused] };
  }

  async #plan(parent: ElastiService, { signal }: { readonly signal: AbortSignal }): Promise<SelectionPlan> {
    const { kube, store, services, own } = this.#options;
    const { namespace = "" } = parent.metadata;
    // Before the stores are complete, a Service may only seem to be missing, and its child would be deleted.
    await Promise.all([store.whenSynced(signal), services.whenSynced(signal)]);
    const workloads = await listWorkloads(kube, namespace, { signal });
    const here = <T extends { readonly metadata: { readonly namespace?: string } }>(all: Iterable<T>): readonly T[] =>
      [...all].filter(({ metadata }) => metadata.namespace === namespace);
    return planChildren({
      ...{ parent, workloads, services: here(services.values()), objects: here(store.values()) },
      own: own?.startsWith(`${namespace}/`) ? own.slice(namespace.length + 1) : undefined,
    });
  }

  async #write(plan: SelectionPlan, options: ActOptions): Promise<readonly LeftOut[]> {
    const children = checkedBy(options, this.#children);
    // The child's finalizer keeps it until its workload is awake.
    for (const child of plan.remove) await deleteIfSame(children, child, options);
    const refused: LeftOut[] = [];
    const attempt = async ({ spec }: StoredElastiService, write: () => Promise<unknown>): Promise<void> => {
      try {
        await write();
      } catch (error) {
        // It was just created or deleted. The next reconcile sees it.
        if (error instanceof kubeErrors.AlreadyExists || error instanceof kubeErrors.NotFound) return;
        if (!(error instanceof CodedError) || error.recovery === "retryable") throw error;
        refused.push({ service: (spec as { readonly service: string }).service, why: explain(error) });
      }
    };
    for (const child of plan.create) await attempt(child, () => children.create(child, options));
    for (const { present, wanted } of plan.change) {
      const { namespace, name = "" } = present.metadata;
      await attempt(wanted, () => children.patch({ namespace, name }, changeOf(present, wanted), options));
    }
    return refused;
  }
}

/** Replaces the spec. Of the metadata, only the label changes. */
function changeOf({ metadata }: StoredElastiService, wanted: StoredElastiService): Patch {
  const value = { ...metadata.labels, [SELECTED_BY]: wanted.metadata.labels?.[SELECTED_BY] };
  return {
    type: "json",
    operations: [
      { op: "test", path: "/metadata/uid", value: metadata.uid },
      { op: "add", path: "/metadata/labels", value },
      { op: "add", path: "/spec", value: wanted.spec },
    ],
  };
}
