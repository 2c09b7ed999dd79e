import { type ElastiService, parseElastiService } from "@evenkeel/api";
import { keyOf, type ReadStore } from "@evenkeel/kube";
import { type Binding, serviceKey } from "../binding.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { bindingOf } from "./binding-of.ts";
import { salvage } from "./salvage.ts";

/** The interpretation of an ElastiService. */
export type Understood =
  | {
      readonly kind: "service";
      readonly binding: Binding;
      /** Set if the spec is invalid: one sentence that says why, and what is in force instead. */
      readonly fault?: string;
    }
  | { readonly kind: "selection"; readonly object: ElastiService }
  | { readonly kind: "invalid"; readonly errors: readonly string[] };

type Objects = Pick<ReadStore<StoredElastiService, "service">, "by" | "subscribe">;

/** Maps Services to the ElastiServices that manage them. If a spec is invalid, the last valid one stays in force. */
export class Bindings {
  readonly #store: Objects;
  /** The interpretation of each stored version. */
  readonly #understood = new WeakMap<StoredElastiService, Understood>();
  /** The last valid interpretation, by uid. */
  readonly #good = new Map<string, Understood>();

  constructor(store: Objects) {
    this.#store = store;
    // Each version is parsed, because it may be the last valid one.
    store.subscribe((change) => {
      if (change.type === "deleted") this.#good.delete(uidOf(change.old));
      else this.understand(change.object);
    });
  }

  understand(object: StoredElastiService): Understood {
    let understood = this.#understood.get(object);
    if (!understood) this.#understood.set(object, (understood = this.#understand(object)));
    return understood;
  }

  /** The ElastiService that manages a Service. If there are several, the oldest, because two would conflict. */
  ownerOf(key: string): StoredElastiService | undefined {
    let owner: StoredElastiService | undefined;
    for (const object of this.#store.by("service", key)) {
      const understood = this.understand(object);
      if (understood.kind !== "service" || keyOfService(understood.binding) !== key) continue;
      if (!owner || isOlder(object, owner)) owner = object;
    }
    return owner;
  }

  /** An ElastiService that managed a Service until its spec became entirely invalid. */
  brokenOwnerOf(key: string): StoredElastiService | undefined {
    for (const object of this.#store.by("service", key)) {
      const isOf = serviceKey(object.metadata.namespace ?? "", object.status?.service ?? "") === key;
      if (isOf && this.understand(object).kind === "invalid") return object;
    }
    return undefined;
  }

  /** The binding of an ElastiService that names another Service now and has not released this one yet. */
  formerOf(key: string): Binding | undefined {
    for (const object of this.#store.by("service", key)) {
      const former = recordedBinding(object);
      if (former && keyOfService(former) === key) return former;
    }
    return undefined;
  }

  #understand(object: StoredElastiService): Understood {
    const uid = uidOf(object);
    const good = this.#good.get(uid);
    const understood = understand(object, good?.kind === "service" ? good.binding : undefined);
    if (understood.kind !== "invalid") {
      this.#good.set(uid, understood);
      return understood;
    }
    // Objects that a template has created stay as they are.
    if (good?.kind === "selection") return understood;
    const rest = good?.kind === "service" ? good : salvaged(object);
    if (!rest) return understood;
    const { generation = 0 } = object.metadata;
    const inForce =
      rest === good ? "The last valid spec stays in force" : "Requests wake the workload, and nothing else is done";
    const fault = `${inForce}, because the spec is invalid: ${understood.errors.join("; ")}`;
    return { ...rest, binding: { ...rest.binding, generation }, fault };
  }
}

/**
 * The index `service` of a store: the Service that an object names, even if its spec is invalid, and the one in its
 * status.
 */
export function namedService({ metadata, spec, status }: StoredElastiService): readonly string[] {
  const { service } = (spec ?? {}) as { readonly service?: unknown };
  const names = [service, status?.service].filter((name) => typeof name === "string" && name !== "");
  return [...new Set(names)].map((name) => serviceKey(metadata.namespace ?? "", name as string));
}

/** Whether an object names a ScaledObject as its autoscaler. */
export function isScaledBy({ metadata, spec }: StoredElastiService, namespace: string, scaledObject: string): boolean {
  const { autoscaler } = (spec ?? {}) as { readonly autoscaler?: { readonly type?: unknown; readonly name?: unknown } };
  return metadata.namespace === namespace && autoscaler?.type === "keda" && autoscaler.name === scaledObject;
}

/** Keeps the previous binding while the generation is the same, with its compiled rules. */
function understand(object: StoredElastiService, before: Binding | undefined): Understood {
  const parsed = parseElastiService(object);
  if (!parsed.ok) return { kind: "invalid", errors: parsed.errors };
  const { generation } = object.metadata;
  if (before && before.generation === generation) return { kind: "service", binding: before };
  return serviceOf(parsed.value) ?? { kind: "selection", object: parsed.value };
}

/** The binding for the Service that a status names, as far as it is recorded. */
export function recordedBinding(object: StoredElastiService): Binding | undefined {
  return salvaged({ ...object, spec: {} })?.binding;
}

function salvaged(object: StoredElastiService): (Understood & { readonly kind: "service" }) | undefined {
  const read = salvage(object);
  return read && serviceOf(read);
}

function serviceOf(object: ElastiService): (Understood & { readonly kind: "service" }) | undefined {
  const binding = bindingOf(object);
  return binding && { kind: "service", binding };
}

function keyOfService({ namespace, service }: Binding): string {
  return serviceKey(namespace, service);
}

function uidOf({ metadata }: StoredElastiService): string {
  return metadata.uid ?? "";
}

function isOlder(one: StoredElastiService, other: StoredElastiService): boolean {
  const [a, b] = [one.metadata.creationTimestamp ?? "", other.metadata.creationTimestamp ?? ""];
  return a === b ? keyOf(one) < keyOf(other) : a < b;
}
