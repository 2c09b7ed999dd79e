import {
  keyOf,
  kubeErrors,
  type KubeObject,
  lastLook,
  nameKey,
  type ObjectName,
  type ReadStore,
  type Reconcile,
  type ReconcileContext,
  type Resource,
  type Result,
} from "@evenkeel/kube";
import { type Clock, withDeadline } from "@evenkeel/runtime";
import { checkedResource } from "./checked-resource.ts";
import type { Reconciler } from "./reconciler.ts";

export interface ObjectReconcilesOptions<T extends KubeObject> {
  readonly store: Pick<ReadStore<T>, "get">;
  readonly reconciler: Reconciler<T>;
  /** Drops what the frame itself keeps of an object that is gone. */
  readonly forget: (name: ObjectName) => void;
  readonly clock: Clock;
}

/** Milliseconds. */
const DEADLINE = 60_000;
/** Milliseconds in which a failure must be in the status. */
const FAILURE_DEADLINE = 30_000;

/** Gives a reconciler the stored object instead of a name, and calls it for each object that is gone. */
export class ObjectReconciles<T extends KubeObject> {
  readonly #options: ObjectReconcilesOptions<T>;
  /** By key, the uid of the object that was last reconciled. */
  readonly #uids = new Map<string, string>();

  constructor(options: ObjectReconcilesOptions<T>) {
    this.#options = options;
  }

  readonly reconcile: Reconcile = async (name, context) => {
    const object = this.#options.store.get(nameKey(name));
    try {
      await this.#forgetFormer(name, object, context);
      return object && (await this.#reconcile(object, context));
    } catch (error) {
      if (object) await this.#reportFailure(object, error, context);
      throw error;
    }
  };

  /** Of an object that is gone there is only something to forget. */
  readonly deadline = (name: ObjectName): number => {
    const { store, reconciler } = this.#options;
    const object = store.get(nameKey(name));
    return (object && reconciler.deadline?.(object)) ?? DEADLINE;
  };

  endTerm(): void {
    this.#uids.clear();
    this.#options.reconciler.endTerm?.();
  }

  async #reconcile(object: T, context: ReconcileContext): Promise<Result | undefined> {
    const { store, reconciler } = this.#options;
    this.#uids.set(keyOf(object), object.metadata.uid ?? "");
    const look = lastLook(store, object, context.term);
    const checked = <C extends KubeObject>(resource: Resource<C>) => checkedResource(resource, look);
    return reconciler.reconcile(object, { ...context, lastLook: look, checked });
  }

  /** Never rejects, so that the reconcile rejects with its own error. */
  async #reportFailure(object: T, thrown: unknown, context: ReconcileContext): Promise<void> {
    const { reconciler, clock } = this.#options;
    const { signal: ended, term, log } = context;
    if (term.signal.aborted || thrown instanceof kubeErrors.ActOvertaken) return;
    // Whatever error an aborted call throws, the deadline is the cause.
    const error: unknown = ended.aborted ? ended.reason : thrown;
    const deadline = { clock, milliseconds: FAILURE_DEADLINE, signal: term.signal, what: "the status of the failure" };
    try {
      await withDeadline(deadline, (signal) => reconciler.failed(object, error, { ...context, signal }));
    } catch (failure) {
      if (failure === term.signal.reason) return;
      log.warn({ error: failure }, "the status does not say that the reconcile failed");
    }
  }

  /** If the reconciler fails to forget, the uid stays, so that the retry forgets again. */
  async #forgetFormer(name: ObjectName, object: T | undefined, context: ReconcileContext): Promise<void> {
    const { reconciler, forget } = this.#options;
    const known = this.#uids.get(nameKey(name));
    const { uid = "" } = object?.metadata ?? {};
    if (known === undefined || known === uid) return;
    forget(name);
    await reconciler.forget?.(name, known, context);
    this.#uids.delete(nameKey(name));
  }
}
