import type { KubeObject, ObjectName, ReconcileContext, Result } from "@evenkeel/kube";

/** What a service does with each of its objects. The frame calls it on the leader alone, never for one object twice at a time. */
export interface Reconciler<T extends KubeObject> {
  /**
   * Brings about what the object asks for, from whatever state it finds. If it rejects, it is called again after a growing wait, unless
   * the error's catalogue entry calls it terminal: then only after something changes.
   */
  reconcile(object: T, context: ReconcileContext): Promise<Result | undefined>;

  /** Drops what is kept of an object that is gone, or was replaced by another of the same name. `uid` is that of the gone one. */
  forget(name: ObjectName, uid: string, context: ReconcileContext): Promise<void> | void;

  /** Drops what is kept of all objects, since another process leads now. No reconcile runs any more. */
  endTerm?(): void;
}
