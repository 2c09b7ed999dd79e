import type { KubeObject } from "./object.ts";
import type { Resource, WriteOptions } from "./resource.ts";
import { without } from "./without.ts";

export type ApplyCallOptions = Omit<WriteOptions, "fieldManager">;

/**
 * Server-side apply by one controller. Each apply states all fields that the controller wants: a field that it stated
 * before and leaves out now is removed. It takes over stated fields from other managers.
 */
export interface Applier {
  readonly fieldManager: string;
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyCallOptions): Promise<T>;
  applyStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyCallOptions): Promise<T>;
}

/** `fieldManager` names the controller. It must never change, or the fields that it stated before are never removed. */
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
 * The object without the metadata that the API server manages. A resourceVersion would make the apply conditional.
 */
function stated<T extends KubeObject>(object: T): T {
  return { ...object, metadata: without(object.metadata, ...kept) };
}
