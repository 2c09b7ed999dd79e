import { equal, type Fields } from "../../json.ts";

/** One endpoint, by the pod that it is. */
export interface Endpoint {
  readonly pod: string;
  readonly fields: Fields;
}

export interface Slice {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
}

export interface SlicePlan {
  /** By the name of the slice, what it is to hold. */
  readonly updates: ReadonlyMap<string, readonly Endpoint[]>;
  readonly creates: readonly (readonly Endpoint[])[];
  readonly deletes: readonly string[];
}

/** Endpoints that a slice holds at most, as Kubernetes has it unless told. */
export const SLICE_SIZE = 100;

/**
 * What becomes of the slices of one set of ports: an endpoint stays where it is, new ones fill what has room, and what
 * is empty goes, so that one pod's change is the change of one slice. One empty slice stays where `keepOne` asks for
 * it.
 */
export function planSlices(slices: readonly Slice[], endpoints: readonly Endpoint[], keepOne: boolean): SlicePlan {
  const wanted = new Map(endpoints.map((endpoint) => [endpoint.pod, endpoint]));
  const contents = slices.map(({ name, endpoints: before }) => {
    const kept = before.flatMap(({ pod }) => take(wanted, pod));
    return { name, before, now: kept };
  });
  const added = [...wanted.values()];
  for (const { now } of contents) now.push(...added.splice(0, Math.max(0, SLICE_SIZE - now.length)));
  const creates: Endpoint[][] = [];
  while (added.length > 0) creates.push(added.splice(0, SLICE_SIZE));
  const empty = contents.filter(({ now }) => now.length === 0).map(({ name }) => name);
  if (keepOne && slices.length === 0 && creates.length === 0) creates.push([]);
  const deletes = keepOne && empty.length === contents.length && creates.length === 0 ? empty.slice(1) : empty;
  const updates = contents.filter(({ name, before, now }) => !deletes.includes(name) && !equal(before, now));
  return { updates: new Map(updates.map(({ name, now }) => [name, now])), creates, deletes };
}

function take(wanted: Map<string, Endpoint>, pod: string): Endpoint[] {
  const endpoint = wanted.get(pod);
  wanted.delete(pod);
  return endpoint === undefined ? [] : [endpoint];
}
