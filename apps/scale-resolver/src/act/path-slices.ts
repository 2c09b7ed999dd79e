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
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "../observe/slice-labels.ts";
import { SliceContended, SliceNameTaken } from "./path-errors.ts";
import { closedSlice, leadsAlike, type PathInput, pathSlices } from "./path-plan.ts";

export interface PathSlicesOptions {
  readonly slices: Resource<EndpointSlice>;
  /** What was last seen of them, by `namespace/service`. */
  readonly seen: Pick<ReadStore<EndpointSlice, "service">, "by">;
}

/** Writes of one slice before it is given up for this time. */
const TRIES = 5;

/** Puts the resolver into the paths of Services and takes it out, by EndpointSlices of its own beside those of the pods. */
export class PathSlices {
  readonly #options: PathSlicesOptions;

  constructor(options: PathSlicesOptions) {
    this.#options = options;
  }

  /** Whether the resolver was last seen in the path of a Service. */
  isJoined(namespace: string, service: string): boolean {
    return this.#seen(namespace, service).some(({ endpoints }) => (endpoints ?? []).length > 0);
  }

  /**
   * Brings the resolver's slices of a Service to what they should be. Those that are so are not written, and those that are no longer wanted,
   * as after a change of families, are deleted when the others are in place. Resolves with whether anything was changed.
   */
  async join(input: PathInput, options: ActOptions = {}): Promise<boolean> {
    const { namespace = "", name = "" } = input.service.metadata;
    const wanted = pathSlices(input);
    if (areAlike(wanted, this.#seen(namespace, name))) return false;
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
   * Marks the resolver's endpoints of a Service as not ready, but for those at addresses that are `left`. The resolver is in the path all the same: a join makes them ready
   * again. Nothing is written where nothing is to be marked.
   */
  async close({ metadata }: Service, left: ReadonlySet<string>, options: ActOptions = {}): Promise<void> {
    const { namespace = "", name = "" } = metadata;
    const isOpen = (slice: EndpointSlice) => !leadsAlike(slice, closedSlice(slice, left));
    if (!this.#seen(namespace, name).some(isOpen)) return;
    const present = await this.#present(namespace, name, options);
    await Promise.all(present.filter(isOpen).map((slice) => this.#replace(closedSlice(slice, left), options)));
  }

  /** Takes the resolver out of the path of a Service. Reads what is there: what was last seen may be older than a join. */
  async leave(namespace: string, service: string, options: ActOptions = {}): Promise<void> {
    const present = await this.#present(namespace, service, options);
    await Promise.all(present.map((slice) => deleteIfSame(checkedBy(options, this.#options.slices), slice, options)));
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

  /** Resolves with whether it had to be written. */
  async #write(slice: EndpointSlice, found: EndpointSlice | undefined, options: ActOptions): Promise<boolean> {
    const slices = checkedBy(options, this.#options.slices);
    let present = found;
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      if (present !== undefined) {
        if (!isOurs(present)) throw new SliceNameTaken({ slice: keyOf(slice), manager: managerOf(present) });
        if (leadsAlike(slice, present)) return false;
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

  /** One that somebody wrote or deleted meanwhile is left to the turn that hears of it. */
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

function isOurs({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY] === MANAGER;
}

function managerOf({ metadata }: EndpointSlice): string {
  return metadata.labels?.[MANAGED_BY] ?? "nobody";
}

function areAlike(wanted: readonly EndpointSlice[], present: readonly EndpointSlice[]): boolean {
  const byName = new Map(present.map((slice) => [slice.metadata.name, slice]));
  return (
    wanted.length === present.length &&
    wanted.every((slice) => {
      const found = byName.get(slice.metadata.name);
      return found !== undefined && leadsAlike(slice, found);
    })
  );
}

/** Keeps what others put on it, and its version: a write in between is a conflict. */
function onto(present: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const { labels, ownerReferences = [] } = slice.metadata;
  return {
    ...slice,
    metadata: { ...present.metadata, labels: { ...present.metadata.labels, ...labels }, ownerReferences },
  };
}

/** Somebody created, wrote or deleted it meanwhile. A create that finds nothing has no namespace to be in. */
function isOvertaken(error: unknown, wasThere: boolean): boolean {
  const { AlreadyExists, Conflict, NotFound } = kubeErrors;
  return error instanceof AlreadyExists || error instanceof Conflict || (wasThere && error instanceof NotFound);
}
