import {
  deleteIfSame,
  type EndpointSlice,
  keyOf,
  kubeErrors,
  type ReadStore,
  type Resource,
  type Service,
} from "@evenkeel/kube";
import { serviceKey } from "../binding.ts";
import { type ActOptions, checkedBy } from "./act-options.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "../observe/slice-labels.ts";
import { SliceContended, SliceNameTaken } from "./path-errors.ts";
import { closedSlice, hasSameEndpoints, type PathInput, pathSlices, type PathUse, useOf } from "./path-plan.ts";

export interface PathSlicesOptions {
  readonly slices: Resource<EndpointSlice>;
  /** The cached slices, by `namespace/service`. */
  readonly seen: Pick<ReadStore<EndpointSlice, "service">, "by">;
  /** Whether endpoints of a namespace's Services name the resolver's pod; absent: they do. */
  readonly namesPod?: (namespace: string, signal?: AbortSignal) => Promise<boolean>;
}

/** Maximum writes of one slice per call. */
const TRIES = 5;

/** Redirects Services to the resolver and restores them, by EndpointSlices in addition to those of the pods. */
export class PathSlices {
  readonly #options: PathSlicesOptions;

  constructor(options: PathSlicesOptions) {
    this.#options = options;
  }

  /** What the resolver's slices of a Service are for, according to the cache; undefined if there are none. */
  useOf(namespace: string, service: string): PathUse | undefined {
    const uses = this.#seen(namespace, service).map(useOf);
    return uses.includes("redirect") ? "redirect" : uses.find((use) => use !== undefined);
  }

  /**
   * Redirects a Service to the resolver. Slices that are correct are not written. Slices that are no longer wanted,
   * such as after a change of families, are deleted after the others are written. Resolves with whether anything
   * changed.
   */
  async join(input: PathInput, options: ActOptions = {}): Promise<boolean> {
    return this.#apply(input, "redirect", { ...options, isCacheRecent: true });
  }

  /** Makes the resolver the endpoint that nodes use only while no pod of the Service is ready. */
  async standBy(input: PathInput, options: ActOptions = {}): Promise<boolean> {
    return this.#apply(input, "standby", { ...options, isCacheRecent: true });
  }

  /**
   * Ends a redirect: the resolver stands by. Reads the slices from the API server, because the cache may be older than
   * a join.
   */
  async withdraw(input: PathInput, options: ActOptions = {}): Promise<boolean> {
    return this.#apply(input, "standby", { ...options, isCacheRecent: false });
  }

  async #apply(
    input: PathInput,
    use: PathUse,
    { isCacheRecent, ...options }: ActOptions & { readonly isCacheRecent: boolean },
  ): Promise<boolean> {
    const { namespace = "", name = "" } = input.service.metadata;
    const isSeen = (of: PathInput) => isCacheRecent && areAlike(pathSlices(of, use), this.#seen(namespace, name));
    // Most Services are in this case. Their namespaces are not read again and again: a join reads them.
    if (use === "standby" && (isSeen(input) || isSeen(withoutPods(input)))) return false;
    const allowed = await this.#withAllowedPods(input, options);
    if (isSeen(allowed)) return false;
    const wanted = pathSlices(allowed, use);
    const present = await this.#present(namespace, name, options);
    const byName = new Map(present.map((slice) => [slice.metadata.name, slice]));
    const written = await Promise.all(
      wanted.map((slice) => this.#write(slice, byName.get(slice.metadata.name), options)),
    );
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    const surplus = present.filter(({ metadata }) => !names.has(metadata.name));
    await Promise.all(surplus.map((slice) => deleteIfSame(checkedBy(options, this.#options.slices), slice, options)));
    return surplus.length > 0 || written.includes(true);
  }

  /**
   * Updates the endpoints of the resolver's slices of a Service that exist, and creates and deletes none: the Service
   * may be restored at the same time. Each slice keeps its use. A slice that another client writes meanwhile is left to
   * the reconcile that this triggers.
   */
  async repoint(input: PathInput, options: ActOptions = {}): Promise<void> {
    const { namespace = "", name = "" } = input.service.metadata;
    const use = this.useOf(namespace, name);
    if (use === undefined) return;
    const allowed = await this.#withAllowedPods(input, options);
    if (areAlike(pathSlices(allowed, use), this.#seen(namespace, name))) return;
    const present = await this.#present(namespace, name, options);
    await Promise.all(
      present.map(async (slice) => {
        const wanted = pathSlices(allowed, useOf(slice) ?? use);
        const changed = wanted.find(({ metadata }) => metadata.name === slice.metadata.name);
        if (changed && !hasSameEndpoints(changed, slice)) await this.#replace(onto(slice, changed), options);
      }),
    );
  }

  /**
   * Marks the resolver's endpoints of a Service as not usable, except those at addresses in `left`. The slices stay,
   * and `join` and `standBy` make the endpoints usable again. Writes nothing if nothing changes.
   */
  async close({ metadata }: Service, left: ReadonlySet<string>, options: ActOptions = {}): Promise<void> {
    const { namespace = "", name = "" } = metadata;
    const isOpen = (slice: EndpointSlice) => !hasSameEndpoints(slice, closedSlice(slice, left));
    if (!this.#seen(namespace, name).some(isOpen)) return;
    const present = await this.#present(namespace, name, options);
    await Promise.all(present.filter(isOpen).map((slice) => this.#replace(closedSlice(slice, left), options)));
  }

  /**
   * Removes the resolver's endpoints from a Service. Reads the slices from the API server, because the cache may be
   * older than a join.
   */
  async leave(namespace: string, service: string, options: ActOptions = {}): Promise<void> {
    const present = await this.#present(namespace, service, options);
    await Promise.all(present.map((slice) => deleteIfSame(checkedBy(options, this.#options.slices), slice, options)));
  }

  /** The input, without the pods of resolvers where the namespace of the Service must not have them. */
  async #withAllowedPods(input: PathInput, { signal }: ActOptions): Promise<PathInput> {
    const namesPod = (await this.#options.namesPod?.(input.service.metadata.namespace ?? "", signal)) ?? true;
    return namesPod ? input : withoutPods(input);
  }

  #seen(namespace: string, service: string): readonly EndpointSlice[] {
    return [...this.#options.seen.by("service", serviceKey(namespace, service))].filter(isOurs);
  }

  async #present(namespace: string, service: string, options: ActOptions): Promise<readonly EndpointSlice[]> {
    const labelSelector = `${SERVICE_NAME}=${service},${MANAGED_BY}=${MANAGER}`;
    const found: EndpointSlice[] = [];
    for await (const page of this.#options.slices.pages({ namespace, labelSelector, ...options }))
      found.push(...page.items);
    return found;
  }

  /** Resolves with whether the slice was written. */
  async #write(slice: EndpointSlice, found: EndpointSlice | undefined, options: ActOptions): Promise<boolean> {
    const slices = checkedBy(options, this.#options.slices);
    let present = found;
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      if (present !== undefined) {
        if (!isOurs(present)) throw new SliceNameTaken({ slice: keyOf(slice), manager: managerOf(present) });
        if (hasSameEndpoints(slice, present)) return false;
      }
      try {
        await (present === undefined ? slices.create(slice, options) : slices.replace(onto(present, slice), options));
        return true;
      } catch (error) {
        if (!isOvertaken(error, present !== undefined)) throw error;
        present = await this.#get(slice, options);
      }
    }
    throw new SliceContended({ slice: keyOf(slice), tries: TRIES });
  }

  /** If another client wrote or deleted the slice meanwhile, the reconcile that this change triggers handles it. */
  async #replace(slice: EndpointSlice, options: ActOptions): Promise<void> {
    try {
      await checkedBy(options, this.#options.slices).replace(slice, options);
    } catch (error) {
      if (!isOvertaken(error, true)) throw error;
    }
  }

  async #get({ metadata }: EndpointSlice, options: ActOptions): Promise<EndpointSlice | undefined> {
    try {
      return await this.#options.slices.get({ namespace: metadata.namespace, name: metadata.name ?? "" }, options);
    } catch (error) {
      if (error instanceof kubeErrors.NotFound) return undefined;
      throw error;
    }
  }
}

function withoutPods(input: PathInput): PathInput {
  return { ...input, resolvers: input.resolvers.map(withoutPod) };
}

function withoutPod({ family, address, replica, nodeName }: ResolverEndpoint): ResolverEndpoint {
  return { family, address, replica, ...(nodeName === undefined ? {} : { nodeName }) };
}

function isOurs({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY] === MANAGER;
}

function managerOf({ metadata }: EndpointSlice): string {
  return metadata.labels?.[MANAGED_BY] ?? "no controller";
}

function areAlike(wanted: readonly EndpointSlice[], present: readonly EndpointSlice[]): boolean {
  const byName = new Map(present.map((slice) => [slice.metadata.name, slice]));
  return (
    wanted.length === present.length &&
    wanted.every((slice) => {
      const found = byName.get(slice.metadata.name);
      return found !== undefined && hasSameEndpoints(slice, found);
    })
  );
}

/** Keeps labels and annotations of other clients, and the version, so that a concurrent write is a conflict. */
function onto(present: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const { labels, ownerReferences = [] } = slice.metadata;
  return {
    ...slice,
    metadata: { ...present.metadata, labels: { ...present.metadata.labels, ...labels }, ownerReferences },
  };
}

/**
 * Another client created, wrote or deleted it meanwhile. A create gets NotFound if the namespace does not exist, which
 * is an error.
 */
function isOvertaken(error: unknown, wasThere: boolean): boolean {
  const { AlreadyExists, Conflict, NotFound } = kubeErrors;
  return error instanceof AlreadyExists || error instanceof Conflict || (wasThere && error instanceof NotFound);
}
