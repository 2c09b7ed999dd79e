import type { Term } from "@evenkeel/runtime";
import { Conflict, NotFound } from "../errors.ts";
import { getIfThere } from "./get-if-there.ts";
import type { KubeObject } from "./object.ts";
import type { Resource } from "./resource.ts";

/** An object as the API server stores it. Its spec is not trusted until it is parsed. */
export interface StoredObject<S> extends KubeObject {
  readonly spec?: unknown;
  readonly status?: S;
}

/**
 * A status to write: absent leaves a field as it is stored, null removes it. Only optional fields can be removed. A
 * list is written as a whole.
 */
export type Nulled<S> = {
  readonly [F in keyof S]: undefined extends S[F] ? NulledField<S[F]> | null : NulledField<S[F]>;
};

type NulledField<V> = V extends readonly unknown[] ? V : V extends object ? Nulled<V> : V;

/** Computes the status to write from the present one. To return the present one means that nothing is to be written. */
export type StatusChange<S> = (present: S | undefined) => Nulled<S> | undefined;

export interface StatusWriterOptions {
  /** Milliseconds that one request may take, retries included. Default 10 s. */
  readonly deadline?: number;
}

/** Attempts in total, each from the present version of the object. */
const ATTEMPTS = 5;

/** Writes the status of objects. */
export class StatusWriter<T extends StoredObject<S>, S> {
  readonly #resource: Pick<Resource<T>, "get" | "status">;
  readonly #deadline: number;

  constructor(resource: Pick<Resource<T>, "get" | "status">, { deadline = 10_000 }: StatusWriterOptions = {}) {
    this.#resource = resource;
    this.#deadline = deadline;
  }

  /**
   * Does nothing if `status` is the one that `object` has, or if the object is gone or was replaced. If the object was
   * written since it was read, a status is written all the same, and a function is called again with what is stored: it
   * is for fields where an old object leads to a wrong value, such as a list that is only added to.
   *
   * It has a deadline of its own and is aborted only by the end of the term, so that a reconcile that ran into its
   * deadline can still say so in the status.
   */
  async write(object: T, status: Nulled<S> | StatusChange<S>, { signal }: Pick<Term, "signal">): Promise<void> {
    const change = isChange(status) ? status : () => status;
    const { namespace, name = "", uid } = object.metadata;
    const options = { signal, deadline: this.#deadline };
    let stored = object;
    for (let attempt = 1; ; attempt++) {
      const next = change(stored.status);
      if (next === stored.status) return;
      // The version and not the uid, which the API server ignores in a patch of the status.
      const body = { metadata: { resourceVersion: stored.metadata.resourceVersion }, status: next };
      try {
        await this.#resource.status.patch({ namespace, name }, { type: "merge", body }, options);
        return;
      } catch (error) {
        if (error instanceof NotFound) return;
        if (!(error instanceof Conflict) || attempt === ATTEMPTS) throw error;
      }
      const present = await getIfThere(this.#resource, { namespace, name }, options);
      if (!present || present.metadata.uid !== uid) return;
      stored = present;
    }
  }
}

function isChange<S>(status: Nulled<S> | StatusChange<S>): status is StatusChange<S> {
  return typeof status === "function";
}
