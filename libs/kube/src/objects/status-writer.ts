import type { Term } from "@evenkeel/runtime";
import { NotFound } from "../errors.ts";
import type { KubeObject } from "./object.ts";
import type { Resource } from "./resource.ts";

/** An object as the API server stores it. Its spec is not trusted until it is parsed. */
export interface StoredObject<S> extends KubeObject {
  readonly spec?: unknown;
  readonly status?: S;
}

/** A status to write: absent leaves a field as it is stored, null removes it. Only optional fields can be removed. */
export type Nulled<S> = { readonly [F in keyof S]: undefined extends S[F] ? S[F] | null : S[F] };

export interface StatusWriterOptions {
  /** Milliseconds that one write may take, retries included. */
  readonly deadline?: number;
}

/** Writes the status of objects. */
export class StatusWriter<T extends StoredObject<S>, S> {
  readonly #resource: Pick<Resource<T>, "status">;
  readonly #deadline: number;

  constructor(resource: Pick<Resource<T>, "status">, { deadline = 10_000 }: StatusWriterOptions = {}) {
    this.#resource = resource;
    this.#deadline = deadline;
  }

  /**
   * Does nothing if `status` is the one that `object` has, or if the object is gone. It has a deadline of its own and
   * is aborted only by the end of the term, so that a reconcile that ran into its deadline can still say so in the
   * status.
   */
  async write({ metadata, status: before }: T, status: Nulled<S>, { signal }: Pick<Term, "signal">): Promise<void> {
    if (status === before) return;
    const { namespace, name = "", uid } = metadata;
    // With the uid, an object that was created under the same name since answers with Conflict.
    const body = { metadata: { uid }, status };
    try {
      await this.#resource.status.patch(
        { namespace, name },
        { type: "merge", body },
        { signal, deadline: this.#deadline },
      );
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }
}
