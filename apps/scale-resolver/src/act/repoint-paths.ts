import { nameKey, type ReadStore, type Reconcile, type Service } from "@evenkeel/kube";
import { serviceKey } from "../binding.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { Bindings } from "../observe/bindings.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import type { PathSlices } from "./path-slices.ts";

export interface RepointPathsOptions {
  readonly objects: Pick<ReadStore<StoredElastiService>, "get">;
  readonly bindings: Pick<Bindings, "ownerOf">;
  readonly services: Pick<ReadStore<Service>, "get">;
  readonly path: Pick<PathSlices, "repoint" | "close">;
  readonly resolvers: () => readonly ResolverEndpoint[];
  /** Addresses of replicas that are terminating and still serve. */
  readonly terminatingResolvers: () => ReadonlySet<string>;
  /** Why KubeElasti's operator counts as running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
}

/**
 * Redirects one Service to the replicas that accept requests now, if it is redirected. It runs in a controller of its
 * own: the reconcile of an ElastiService may be waiting for a metric server, and requests must not go to a replica that
 * is gone meanwhile.
 */
export function repointPaths(options: RepointPathsOptions): Reconcile {
  const { objects, bindings, services, path, resolvers, terminatingResolvers, original } = options;
  return async (name, { signal }) => {
    const object = objects.get(nameKey(name));
    const { service: named = "", ports = [] } = object?.status ?? {};
    const key = serviceKey(name.namespace ?? "", named);
    const service = services.get(key);
    if (!object || !service || (await original(signal)) !== undefined) return undefined;
    const owner = bindings.ownerOf(key);
    if (owner && owner.metadata.uid !== object.metadata.uid) return undefined;
    const known = resolvers();
    if (known.length > 0) await path.repoint({ object, service, ports, resolvers: known }, { signal });
    else await path.close(service, terminatingResolvers(), { signal });
    return undefined;
  };
}
