import {
  type EndpointSlice,
  endpointSlices,
  keepOnly,
  keyOf,
  type ReadStore,
  type Service,
  services,
  watchBackoff,
} from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import type { Binding } from "../binding.ts";
import type { Pods } from "../decide/snapshot.ts";
import { elastiServices, type StoredElastiService } from "../elasti-service-resource.ts";
import { Bindings, namedService } from "./bindings.ts";
import type { ServiceEndpoint } from "./endpoints.ts";
import { terminatingAddresses, type ResolverEndpoint, resolverEndpoints } from "./resolver-endpoints.ts";
import { podsOf, serviceEndpoints } from "./service-endpoints.ts";
import { SERVICE_NAME } from "./slice-labels.ts";

export interface ClusterViewOptions {
  readonly reflect: OperatorFrame["reflect"];
  /**
   * The Service of this program's replicas. Its ready endpoints receive requests. Undefined: only this replica does.
   */
  readonly own: { readonly namespace: string; readonly name: string } | undefined;
  /** The addresses of this replica. */
  readonly podIps: readonly string[];
}

/** Maximum milliseconds before a lost watch is retried. Requests may be waiting for the pod that it reports. */
export const LONGEST_WATCH_WAIT = 2000;
const timing = { backoff: { ...watchBackoff, cap: LONGEST_WATCH_WAIT } };

/** The cached cluster state, on every replica. Keys are `namespace/name`. */
export class ClusterView {
  readonly objects: ReadStore<StoredElastiService, "service">;
  readonly services: ReadStore<Service>;
  readonly slices: ReadStore<EndpointSlice, "service">;
  /** The slices of the Service of this program's replicas. */
  readonly ownSlices: ReadStore<EndpointSlice> | undefined;
  readonly bindings: Bindings;
  readonly #options: ClusterViewOptions;

  constructor(options: ClusterViewOptions) {
    this.#options = options;
    const { reflect, own } = options;
    this.objects = reflect(elastiServices, { timing, indexes: { service: namedService } });
    this.services = reflect(services, {
      timing,
      transform: keepOnly(
        // The owner reference of a Service that KubeElasti left behind names the original Service.
        ...["metadata.labels", "metadata.ownerReferences"],
        ...["type", "clusterIP", "clusterIPs", "sessionAffinity", "ipFamilies", "ports", "selector"].map(
          (field) => `spec.${field}`,
        ),
        ...["spec.internalTrafficPolicy", "spec.externalTrafficPolicy"],
      ),
    });
    const transform = keepOnly<EndpointSlice>(
      ...["metadata.labels", "metadata.ownerReferences", "addressType", "endpoints", "ports"],
    );
    this.slices = reflect(endpointSlices, { timing, transform, indexes: { service: slicedService } });
    const selection = own && { namespace: own.namespace, labelSelector: `${SERVICE_NAME}=${own.name}` };
    this.ownSlices = selection && reflect(endpointSlices, { timing, transform, selection });
    this.bindings = new Bindings(this.objects);
  }

  /** The replicas of this program that accept requests. */
  readonly resolvers = (): readonly ResolverEndpoint[] =>
    resolverEndpoints(this.ownSlices ? this.ownSlices.values() : null, this.#options.podIps);

  /** Addresses of replicas that are terminating and still serve. */
  readonly terminatingResolvers = (): ReadonlySet<string> =>
    terminatingAddresses(this.ownSlices ? this.ownSlices.values() : null);

  readonly endpoints = (key: string): readonly ServiceEndpoint[] | null =>
    this.slices.hasSynced ? serviceEndpoints(this.slices.by("service", key)) : null;

  readonly pods = (key: string): Pods | null => {
    const endpoints = this.endpoints(key);
    return endpoints && podsOf(endpoints);
  };

  /** The binding of a Service; undefined if it is not managed. */
  readonly binding = (service: string): Binding | undefined => {
    const owner = this.bindings.ownerOf(service);
    const understood = owner && this.bindings.understand(owner);
    return understood?.kind === "service" ? understood.binding : undefined;
  };

  /** The key of the ElastiService that manages a Service. */
  readonly ownerKey = (service: string): string | undefined => {
    const owner = this.bindings.ownerOf(service);
    return owner && keyOf(owner);
  };
}

/** The index `service` of a store of EndpointSlices. */
function slicedService({ metadata }: EndpointSlice): readonly string[] {
  const service = metadata.labels?.[SERVICE_NAME];
  return service === undefined ? [] : [`${metadata.namespace ?? ""}/${service}`];
}
