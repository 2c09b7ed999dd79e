import { deleteIfSame, type EndpointSlice, type ReadStore, type Resource, type Service } from "@evenkeel/kube";
import { type ActOptions, checkedBy } from "../act-options.ts";
import { elastiServices } from "../../elasti-service-resource.ts";
import { originalPrivateServiceName, originalSliceName } from "../../observe/original-names.ts";
import { MANAGED_BY, SERVICE_NAME } from "../../observe/slice-labels.ts";

export interface OriginalLeftoversOptions {
  readonly slices: Resource<EndpointSlice>;
  readonly services: Resource<Service>;
  /** The cached objects. */
  readonly sliceStore: Pick<ReadStore<EndpointSlice>, "get">;
  readonly serviceStore: Pick<ReadStore<Service>, "get">;
}

/**
 * Objects that KubeElasti created for a Service and that are no longer managed: the EndpointSlice to its resolver and
 * its private copy of the Service.
 */
export class OriginalLeftovers {
  readonly #options: OriginalLeftoversOptions;

  constructor(options: OriginalLeftoversOptions) {
    this.#options = options;
  }

  /**
   * Deletes the leftovers of a Service and resolves with one line for each deleted object. Call it only if requests
   * have another destination, pods or this resolver, and never while KubeElasti's operator runs, which would create the
   * objects again.
   */
  async clean(namespace: string, service: string, options: ActOptions = {}): Promise<readonly string[]> {
    const { slices, services, sliceStore, serviceStore } = this.#options;
    const slice = sliceStore.get(`${namespace}/${originalSliceName(service)}`);
    const copy = serviceStore.get(`${namespace}/${originalPrivateServiceName(service)}`);
    const lines: string[] = [];
    if (slice && isOriginalSlice(slice, service) && (await deleteIfSame(checkedBy(options, slices), slice, options)))
      lines.push(`deleted EndpointSlice ${slice.metadata.name} of KubeElasti: it pointed at KubeElasti's resolver`);
    if (copy && isOriginalCopy(copy) && (await deleteIfSame(checkedBy(options, services), copy, options)))
      lines.push(`deleted Service ${copy.metadata.name} of KubeElasti: it was a private copy of ${service}`);
    return lines;
  }
}

/**
 * KubeElasti sets no managed-by label. A slice with that label belongs to another controller, even if the name matches.
 */
function isOriginalSlice({ metadata: { labels = {} } }: EndpointSlice, service: string): boolean {
  return labels[SERVICE_NAME] === service && labels[MANAGED_BY] === undefined;
}

function isOriginalCopy({ metadata: { ownerReferences = [] } }: Service): boolean {
  const { group, kind } = elastiServices;
  return ownerReferences.some((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`));
}
