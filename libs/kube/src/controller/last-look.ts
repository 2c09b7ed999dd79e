import type { Term } from "@evenkeel/runtime";
import type { ReadStore } from "../cache/store.ts";
import { ActOvertaken, type OvertakenBy } from "../errors.ts";
import type { KubeObject } from "../objects/object.ts";
import { keyOf } from "../objects/object-key.ts";
import { isPaused } from "../objects/pause.ts";

/**
 * To be called right before each write outside the object's own status: `beforeSend` of a call of the client, so that a
 * retry looks too. It throws `ActOvertaken` if the write must not happen.
 */
export type LastLook = () => void;

/**
 * A check that what a reconcile decided is still wanted: this process leads, and `object`, from which it decided, has
 * since been neither deleted nor replaced nor changed nor paused. The store knows of a change as soon as the watch
 * delivers it.
 */
export function lastLook<T extends KubeObject>(
  store: Pick<ReadStore<T>, "get">,
  object: T,
  term: Pick<Term, "held">,
): LastLook {
  const key = keyOf(object);
  return () => {
    const why = term.held() ? overtakenBy(object, store.get(key)) : "not leader";
    if (why !== undefined) throw new ActOvertaken({ object: key, why });
  };
}

function overtakenBy(object: KubeObject, present: KubeObject | undefined): OvertakenBy | undefined {
  if (!present) return "deleted";
  if (present.metadata.uid !== object.metadata.uid) return "replaced";
  // Before the generation, which a deletion raises too.
  if (present.metadata.deletionTimestamp !== object.metadata.deletionTimestamp) return "deleted";
  if (present.metadata.generation !== object.metadata.generation) return "changed";
  return isPaused(present) && !isPaused(object) ? "paused" : undefined;
}
