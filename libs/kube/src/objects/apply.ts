import type { KubeObject } from "./object.ts";
import type { Resource, WriteOptions } from "./resource.ts";
import { without } from "./without.ts";

export type ApplyCallOptions = Omit<WriteOptions, "fieldManager">;

/**
 * Server-side apply by one controller. It states the whole of what the controller wants each time: a field that it
 * stated before and leaves out now is removed. Fields of other managers that it states are taken over.
 */
export interface Applier {
  readonly fieldManager: string;
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyCallOptions): Promise<T>;
  applyStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyCallOptions): Promise<T>;
}

/** `fieldManager` names the controller. It must never change, or the fields that it stated before stay behind. */
export function applier(fieldManager: string): Applier {
  const manager = { fieldManager, force: true };
  return {
    fieldManager,
    apply: (resource, object, options) => resource.apply(stated(object), { ...options, ...manager }),
    applyStatus: (resource, object, options) => resource.status.apply(stated(object), { ...options, ...manager }),
  };
}

const kept = [
  "managedFields",
  "resourceVersion",
  "uid",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/**
 * What a controller can state of an object: not what the API server keeps of it. The version would make the apply
 * conditional.
 */
function stated<T extends KubeObject>(object: T): T {
  return { ...object, metadata: without(object.metadata, ...kept) };
}
