import { type ElastiService, parseElastiService } from "@evenkeel/api";
import { keyOf, type ReadStore } from "@evenkeel/kube";
import { type Binding, serviceKey } from "../binding.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { bindingOf } from "./binding-of.ts";

/** An ElastiService as it was understood. */
export type Understood =
  | { readonly kind: "service"; readonly object: ElastiService; readonly binding: Binding }
  | { readonly kind: "selection"; readonly object: ElastiService }
  | { readonly kind: "invalid"; readonly errors: readonly string[] };

/** Which ElastiService looks after which Service. */
export class Bindings {
  readonly #store: Pick<ReadStore<StoredElastiService, "service">, "by">;
  /** By object, what it came to, as long as nobody changed it. */
  readonly #understood = new WeakMap<StoredElastiService, Understood>();

  constructor(store: Pick<ReadStore<StoredElastiService, "service">, "by">) {
    this.#store = store;
  }

  understand(object: StoredElastiService): Understood {
    let understood = this.#understood.get(object);
    if (!understood) this.#understood.set(object, (understood = understand(object)));
    return understood;
  }

  /** The ElastiService that looks after a Service: of several the oldest, since two would fight over it. */
  ownerOf(key: string): StoredElastiService | undefined {
    let owner: StoredElastiService | undefined;
    for (const object of this.#store.by("service", key)) {
      if (this.understand(object).kind === "service" && (!owner || isOlder(object, owner))) owner = object;
    }
    return owner;
  }
}

/** The index `service` of a store: the Service that an object names, whatever else is wrong with it. */
export function namedService({ metadata, spec }: StoredElastiService): readonly string[] {
  const { service } = (spec ?? {}) as { readonly service?: unknown };
  return typeof service === "string" ? [serviceKey(metadata.namespace ?? "", service)] : [];
}

/** Whether an object names a ScaledObject as its autoscaler. */
export function isScaledBy({ metadata, spec }: StoredElastiService, namespace: string, scaledObject: string): boolean {
  const { autoscaler } = (spec ?? {}) as { readonly autoscaler?: { readonly type?: unknown; readonly name?: unknown } };
  return metadata.namespace === namespace && autoscaler?.type === "keda" && autoscaler.name === scaledObject;
}

function understand(object: StoredElastiService): Understood {
  const parsed = parseElastiService(object);
  if (!parsed.ok) return { kind: "invalid", errors: parsed.errors };
  const binding = bindingOf(parsed.value);
  return binding ? { kind: "service", object: parsed.value, binding } : { kind: "selection", object: parsed.value };
}

function isOlder(one: StoredElastiService, other: StoredElastiService): boolean {
  const [a, b] = [one.metadata.creationTimestamp ?? "", other.metadata.creationTimestamp ?? ""];
  return a === b ? keyOf(one) < keyOf(other) : a < b;
}
