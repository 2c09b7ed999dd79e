import { isPaused, keyOf, type Nulled } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { type Binding, serviceKey } from "../../binding.ts";
import type { StoredElastiService } from "../../elasti-service-resource.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { type Bindings, recordedBinding } from "../../observe/bindings.ts";
import type { ReleaseService } from "./release-service.ts";
import type { PathSlices } from "../path-slices.ts";
import type { Statuses } from "../paused-scaled-objects.ts";

export interface ReleaseFormerServiceOptions {
  readonly bindings: Pick<Bindings, "ownerOf">;
  readonly releaseService: ReleaseService;
  readonly path: PathSlices;
  readonly statuses: Statuses;
  /** The binding with which the Service of an object was last managed, by the object's key. */
  readonly served: (key: string) => Binding | undefined;
  /** Forgets the observations of an object. */
  readonly forget: (key: string) => void;
}

/** Clears the fields of a status that describe one Service: null removes a field. */
const OF_NO_SERVICE: Nulled<ElastiServiceStatus> = {
  ...{ service: null, ports: null, scaleTargetRef: null, replicas: null, pausedScaledObject: null },
  ...{ scaledObject: null, state: null, since: null, mode: null, route: null },
};

/**
 * `released`: nothing is left to release. `inProgress`: the release is in progress. `paused`: it waits until the object
 * is resumed.
 */
export type ReleaseProgress = "released" | "inProgress" | "paused";

/** Releases the Service that an ElastiService managed and that its status still names. */
export class ReleaseFormerService {
  readonly #options: ReleaseFormerServiceOptions;

  constructor(options: ReleaseFormerServiceOptions) {
    this.#options = options;
  }

  /** For an object with a spec that names another Service now. */
  async forAnother(object: StoredElastiService, binding: Binding, context: ObjectContext): Promise<ReleaseProgress> {
    const { bindings, releaseService, path, statuses, forget } = this.#options;
    const { namespace, service } = binding;
    const former = object.status?.service ?? service;
    if (former === service) return "released";
    if (isPaused(object)) return "paused";
    const before = this.#before(object);
    if (before && !(await releaseService.release(object, before, context))) return "inProgress";
    const isAnothers = bindings.ownerOf(serviceKey(namespace, former)) !== undefined;
    if (!before && !isAnothers) await path.leave(namespace, former, context);
    forget(keyOf(object));
    await statuses.write(object, { pausedScaledObject: null, service, ports: [] }, context.term);
    return "inProgress";
  }

  /**
   * For an object that no longer manages a Service: it selects Services, or another object manages its Service.
   * Resolves with false while the release is in progress.
   */
  async own(object: StoredElastiService, context: ObjectContext): Promise<boolean> {
    const { releaseService, statuses, forget } = this.#options;
    const former = object.status?.service;
    if (former === undefined || isPaused(object)) return true;
    const before = this.#before(object);
    if (before && !(await releaseService.release(object, before, context))) return false;
    forget(keyOf(object));
    await statuses.write(object, OF_NO_SERVICE, context.term);
    return false;
  }

  /** The binding of the Service that the status names. */
  #before(object: StoredElastiService): Binding | undefined {
    const served = this.#options.served(keyOf(object));
    return served?.service === object.status?.service ? served : recordedBinding(object);
  }
}
