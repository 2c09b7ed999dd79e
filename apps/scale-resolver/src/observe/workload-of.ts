import {
  type CallOptions,
  type Deployment,
  deployments,
  type KubeClient,
  kubeErrors,
  type KubeObject,
  type ResourceTypeOf,
  type StatefulSet,
  statefulSets,
} from "@evenkeel/kube";
import { containsAll, type Labels } from "@evenkeel/placement";
import type { TargetRef } from "../binding.ts";

/** A workload that runs pods and can be scaled. */
export interface Workload {
  readonly target: TargetRef;
  /** The labels of its pods. */
  readonly labels: Labels;
}

/** The fields of an Argo Rollout that are read. */
interface Rollout extends KubeObject {
  readonly spec?: {
    readonly template?: { readonly metadata?: { readonly labels?: Labels } };
    /** A Deployment with the template. The Rollout keeps that Deployment at 0. */
    readonly workloadRef?: { readonly kind?: string; readonly name?: string };
  };
}

const rollouts: ResourceTypeOf<Rollout> = {
  ...{ group: "argoproj.io", version: "v1alpha1", kind: "Rollout", plural: "rollouts", namespaced: true },
};

/** The workloads of a namespace. They are listed on demand and not watched. */
export async function listWorkloads(
  kube: Pick<KubeClient, "resource">,
  namespace: string,
  options: CallOptions = {},
): Promise<readonly Workload[]> {
  const all = <T extends KubeObject>(type: ResourceTypeOf<T>) => listAll(kube, type, namespace, options);
  return workloadsOf(await all(deployments), await all(statefulSets), await all(rollouts));
}

/** Excludes Deployments that a Rollout references: the Rollout would undo every change. */
export function workloadsOf(
  deployments: readonly Deployment[],
  statefulSets: readonly StatefulSet[],
  rollouts: readonly Rollout[],
): readonly Workload[] {
  const borrowed = new Map(
    rollouts.flatMap(({ metadata, spec }) => {
      const { kind, name } = spec?.workloadRef ?? {};
      return kind === "Deployment" && name !== undefined ? [[name, metadata.name ?? ""] as const] : [];
    }),
  );
  return [
    ...deployments.map((deployment) => {
      const { name = "" } = deployment.metadata;
      const rollout = borrowed.get(name);
      return rollout === undefined
        ? workload("apps/v1", "Deployment", name, labelsOf(deployment))
        : workload("argoproj.io/v1alpha1", "Rollout", rollout, labelsOf(deployment));
    }),
    ...statefulSets.map((set) => workload("apps/v1", "StatefulSet", set.metadata.name ?? "", labelsOf(set))),
    ...rollouts
      .filter(({ spec }) => spec?.workloadRef === undefined)
      .map((rollout) => workload("argoproj.io/v1alpha1", "Rollout", rollout.metadata.name ?? "", labelsOf(rollout))),
  ];
}

/** The only workload with pods that a Service's selector matches, or why it is not known. */
export function workloadOf(
  selector: Labels | undefined,
  workloads: readonly Workload[],
): { readonly target: TargetRef } | { readonly why: string } {
  if (selector === undefined || Object.keys(selector).length === 0)
    return { why: "it has no selector, so its workload cannot be found" };
  const [found, ...others] = workloads.filter(({ labels }) => containsAll(labels, selector));
  if (found === undefined) return { why: "its selector matches the pods of no Deployment, StatefulSet or Rollout" };
  if (others.length === 0) return { target: found.target };
  const names = [found, ...others].map(({ target }) => nameOf(target));
  const shown = names.length > 3 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
  return { why: `its selector matches the pods of several workloads: ${shown.join(", ")}` };
}

/** The workload's name for a person. */
export function nameOf({ kind, name }: TargetRef): string {
  return `${kind} ${name}`;
}

function workload(apiVersion: string, kind: string, name: string, labels: Labels): Workload {
  return { target: { apiVersion, kind, name }, labels };
}

function labelsOf({ spec }: Rollout | Deployment | StatefulSet): Labels {
  return spec?.template?.metadata?.labels ?? {};
}

/** A type that is not installed has no objects. */
async function listAll<T extends KubeObject>(
  kube: Pick<KubeClient, "resource">,
  type: ResourceTypeOf<T>,
  namespace: string,
  options: CallOptions,
): Promise<readonly T[]> {
  const found: T[] = [];
  try {
    for await (const page of kube.resource(type).pages({ namespace, ...options })) found.push(...page.items);
  } catch (error) {
    if (!(error instanceof kubeErrors.NotFound)) throw error;
  }
  return found;
}
