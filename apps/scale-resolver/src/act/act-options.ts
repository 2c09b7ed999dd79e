import type { CallOptions, KubeObject, Resource } from "@evenkeel/kube";
import type { ActContext } from "@evenkeel/operator";

/** Options of calls that change the cluster. */
export interface ActOptions extends CallOptions {
  /**
   * Checks before each write that the ElastiService was not edited, paused or deleted since the reconcile began. Absent
   * for calls that requests wait for, and for calls that undo a change: an edit must not stop them.
   */
  readonly checked?: ActContext["checked"];
}

/** Returns the resource, with the check of the options before each write. */
export function checkedBy<T extends KubeObject>({ checked }: ActOptions, resource: Resource<T>): Resource<T> {
  return checked ? checked(resource) : resource;
}
