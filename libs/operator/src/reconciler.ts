import type { KubeObject, LastLook, ObjectName, ReconcileContext, Resource, Result } from "@evenkeel/kube";

/** What a reconcile of one object may use. */
export interface ObjectContext extends ReconcileContext {
  /**
   * Throws EK_KUBE_ACT_OVERTAKEN if the object was deleted, replaced, changed or paused since this reconcile began, or
   * if this process no longer leads. Call it right before each write outside the cluster. The frame then reconciles the
   * object as it is now.
   */
  readonly lastLook: LastLook;
  /**
   * The resource with a last look before each write. Acts get their resources here, so that none can forget to look.
   * The object's own status and finalizers are written without: what was done is recorded also for an object that
   * changed meanwhile.
   */
  readonly checked: <T extends KubeObject>(resource: Resource<T>) => Resource<T>;
}

/** What an act takes: the type makes sure that a reconcile passes its last look on. */
export type ActContext = Pick<ObjectContext, "signal" | "lastLook" | "checked">;

/**
 * What a service does with each of its objects. The frame calls it on the leader alone, never for one object twice at a
 * time.
 */
export interface Reconciler<T extends KubeObject> {
  /**
   * Brings about what the object asks for, from whatever state it finds. If it rejects, it is called again after a
   * growing wait, unless the error's catalogue entry calls it terminal: then only after something changes.
   */
  reconcile(object: T, context: ObjectContext): Promise<Result | undefined>;

  /**
   * Says in the object's status that its reconcile failed. The frame calls it after each rejection of `reconcile`,
   * except where the act was overtaken or the term ended. `error` is what `reconcile` rejected with, or the deadline
   * that it ran into. The context's signal has a deadline of its own. Whatever comes of this call, the reconcile is
   * retried.
   */
  failed(object: T, error: unknown, context: ReconcileContext): Promise<void>;

  /**
   * Drops what is kept of an object that is gone, or was replaced by another of the same name. `uid` is that of the
   * gone one.
   */
  forget?(name: ObjectName, uid: string, context: ReconcileContext): Promise<void> | void;

  /** Milliseconds after which the signal of a reconcile aborts, by the object's spec; 60 s unless told. */
  deadline?(object: T): number;

  /** Drops what is kept of all objects, because another process leads now. No reconcile runs any more. */
  endTerm?(): void;
}
