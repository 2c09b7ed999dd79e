import {
  type KubeObject,
  lastLook,
  nameKey,
  type ObjectName,
  type ReadStore,
  type Reconcile,
  type ReconcileContext,
} from "@evenkeel/kube";
import { checkedResource } from "./checked-resource.ts";
import type { Reconciler } from "./reconciler.ts";

export interface ObjectReconcilesOptions<T extends KubeObject> {
  readonly store: Pick<ReadStore<T>, "get">;
  readonly reconciler: Reconciler<T>;
  /** Drops what the frame itself keeps of an object that is gone. */
  readonly forget: (name: ObjectName) => void;
}

/** Milliseconds. */
const DEADLINE = 60_000;

/** Gives a reconciler the stored object instead of a name, and calls it for each object that is gone. */
export class ObjectReconciles<T extends KubeObject> {
  readonly #options: ObjectReconcilesOptions<T>;
  /** By key, the uid of the object that was last reconciled. */
  readonly #uids = new Map<string, string>();

  constructor(options: ObjectReconcilesOptions<T>) {
    this.#options = options;
  }

  readonly reconcile: Reconcile = async (name, context) => {
    const { store, reconciler } = this.#options;
    const key = nameKey(name);
    const object = store.get(key);
    const { uid = "" } = object?.metadata ?? {};
    const known = this.#uids.get(key);
    if (known !== undefined && known !== uid) await this.#forget(name, known, context);
    if (!object) return undefined;
    this.#uids.set(key, uid);
    const look = lastLook(store, object, context.term);
    return reconciler.reconcile(object, {
      ...context,
      lastLook: look,
      checked: (resource) => checkedResource(resource, look),
    });
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

  /** If the reconciler fails to forget, the uid stays, so that the retry forgets again. */
  async #forget(name: ObjectName, uid: string, context: ReconcileContext): Promise<void> {
    const { reconciler, forget } = this.#options;
    forget(name);
    await reconciler.forget?.(name, uid, context);
    this.#uids.delete(nameKey(name));
  }
}
