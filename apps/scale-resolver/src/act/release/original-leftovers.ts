import {
  type EndpointSlice,
  kubeErrors,
  type KubeObject,
  type ReadStore,
  type Resource,
  type Service,
} from "@evenkeel/kube";
import { elastiServices } from "../../elasti-service-resource.ts";
import { originalPrivateServiceName, originalSliceName } from "../../observe/original-names.ts";
import { MANAGED_BY, SERVICE_NAME } from "../../observe/slice-labels.ts";

export interface OriginalLeftoversOptions {
  readonly slices: Pick<Resource<EndpointSlice>, "delete">;
  readonly services: Pick<Resource<Service>, "delete">;
  /** What was last seen of either. */
  readonly sliceStore: Pick<ReadStore<EndpointSlice>, "get">;
  readonly serviceStore: Pick<ReadStore<Service>, "get">;
}

/** What KubeElasti made for a Service and nobody looks after any more: the EndpointSlice to its resolver and its private copy of the Service. */
export class OriginalLeftovers {
  readonly #options: OriginalLeftoversOptions;

  constructor(options: OriginalLeftoversOptions) {
    this.#options = options;
  }

  /**
   * Deletes what is left of a Service and resolves with one line for each thing that went. Only for one whose requests have another way already, pods or this resolver,
   * and never while KubeElasti's operator runs: it would make all of it anew.
   */
  async clean(namespace: string, service: string, signal: AbortSignal): Promise<readonly string[]> {
    const { slices, services, sliceStore, serviceStore } = this.#options;
    const slice = sliceStore.get(`${namespace}/${originalSliceName(service)}`);
    const copy = serviceStore.get(`${namespace}/${originalPrivateServiceName(service)}`);
    const lines: string[] = [];
    if (slice && isOriginalSlice(slice, service) && (await isDeleted(slices, slice, signal)))
      lines.push(`KubeElasti's EndpointSlice ${slice.metadata.name} is deleted: it led to another resolver`);
    if (copy && isOriginalCopy(copy) && (await isDeleted(services, copy, signal)))
      lines.push(`KubeElasti's Service ${copy.metadata.name} is deleted: it was a private copy of ${service}`);
    return lines;
  }
}

/** It bears no manager's label; one that does is somebody else's in spite of its name. */
function isOriginalSlice({ metadata: { labels = {} } }: EndpointSlice, service: string): boolean {
  return labels[SERVICE_NAME] === service && labels[MANAGED_BY] === undefined;
}

function isOriginalCopy({ metadata: { ownerReferences = [] } }: Service): boolean {
  const { group, kind } = elastiServices;
  return ownerReferences.some((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`));
}

/** Whether this deleted it, and not somebody before. A namesake that came since is left alone. */
async function isDeleted<T extends KubeObject>(
  resource: Pick<Resource<T>, "delete">,
  { metadata: { namespace, name = "", uid = "" } }: T,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await resource.delete({ namespace, name }, { signal, preconditions: { uid } });
    return true;
  } catch (error) {
    if (error instanceof kubeErrors.NotFound || error instanceof kubeErrors.Conflict) return false;
    throw error;
  }
}
