import { type KubeClient, type KubeObject, nameKey, type ResourceTypeOf, withOwner } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import type { Binding } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";

interface ScaledObject extends KubeObject {
  readonly spec?: unknown;
}

const scaledObjects: ResourceTypeOf<ScaledObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

export interface ScaledObjectsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  readonly clock: Clock;
  /** Address of the resolver's gRPC server for KEDA, such as `scale-resolver.evenkeel-system:9090`. */
  readonly address: string;
  /** Whether that server uses TLS. */
  readonly tls: boolean;
  /** The ClusterTriggerAuthentication with the CA of that server; undefined: none. */
  readonly authentication: string | undefined;
}

const MANAGER = "scale-resolver";
/** Milliseconds after which an unchanged ScaledObject is applied again, because it may have been deleted. */
const AGAIN = 60_000;

/**
 * Creates the ScaledObjects that ElastiServices request, with this resolver as their scaler. Owner references delete
 * them with their ElastiService.
 */
export class ScaledObjects {
  readonly #options: ScaledObjectsOptions;
  /** The last applied ScaledObject of each object, the oldest first. */
  readonly #applied = new Map<string, { readonly text: string; readonly at: number }>();

  constructor(options: ScaledObjectsOptions) {
    this.#options = options;
  }

  /** Number of objects with a remembered ScaledObject. */
  get remembered(): number {
    return this.#applied.size;
  }

  async keep(object: StoredElastiService, binding: Binding, options: ActOptions = {}): Promise<void> {
    const wanted = this.#wanted(object, binding);
    if (!wanted) return;
    const text = JSON.stringify(wanted);
    const key = nameKey(binding);
    const applied = this.#applied.get(key);
    const now = this.#options.clock.monotonic();
    if (applied?.text === text && now - applied.at < AGAIN) return;
    await checkedBy(options, this.#options.kube.resource(scaledObjects)).apply(wanted, {
      ...options,
      fieldManager: MANAGER,
      force: true,
    });
    this.#applied.delete(key);
    this.#applied.set(key, { text, at: now });
    this.#forget(now);
  }

  /** Forgets entries that would be applied again anyway, because deletions are not reported to this class. */
  #forget(now: number): void {
    for (const [key, { at }] of this.#applied) {
      if (now - at < AGAIN) return;
      this.#applied.delete(key);
    }
  }

  #wanted(
    object: StoredElastiService,
    { namespace, service, target, scaledObject }: Binding,
  ): ScaledObject | undefined {
    if (!scaledObject) return undefined;
    const { address, tls, authentication } = this.#options;
    const { name, maxReplicas, targetConcurrency } = scaledObject;
    const metadata = {
      scalerAddress: address,
      service,
      targetConcurrency: String(targetConcurrency),
      ...(tls ? { enableTLS: "true" } : {}),
    };
    const trust =
      authentication === undefined
        ? {}
        : { authenticationRef: { name: authentication, kind: "ClusterTriggerAuthentication" } };
    const wanted: ScaledObject = {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { namespace, name },
      spec: {
        scaleTargetRef: target,
        minReplicaCount: 0,
        maxReplicaCount: maxReplicas,
        triggers: [{ type: "external-push", metadata, ...trust }],
      },
    };
    return withOwner(wanted, object, { controller: false, blockOwnerDeletion: false });
  }
}
