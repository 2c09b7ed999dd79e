import type { HttpBackendRef, HttpRoute, JsonPatchOperation } from "@evenkeel/kube";
import { NoHttpRouteBackend, NoHttpRouteRule } from "../errors.ts";

/** The backend that a spec selects. */
export interface BackendId {
  /** `namespace/name`. */
  readonly route: string;
  readonly rule: number;
  readonly backend: string;
}

/** A backend and those that share its load. */
export interface WeightedBackend {
  /** The rule's backendRefs. */
  readonly refs: readonly HttpBackendRef[];
  /** Its index in `refs`. */
  readonly index: number;
  readonly ref: HttpBackendRef;
  readonly others: readonly HttpBackendRef[];
}

/** The weight of a backendRef without one. */
const DEFAULT_WEIGHT = 1;

export function weightOf({ weight = DEFAULT_WEIGHT }: HttpBackendRef): number {
  return weight;
}

/** The backend in the route. Throws a terminal error that lists what the route has instead. */
export function findBackend({ route, rule, backend }: BackendId, { spec }: HttpRoute): WeightedBackend {
  const rules = spec?.rules ?? [];
  const refs = rules[rule]?.backendRefs ?? [];
  if (rules[rule] === undefined) {
    const found = rules.length === 0 ? "it has no rules" : `it has the rules 0 to ${rules.length - 1}`;
    throw new NoHttpRouteRule({ route, rule, found });
  }
  const index = refs.findIndex(({ name }) => name === backend);
  const ref = refs[index];
  if (ref === undefined || refs.findLastIndex(({ name }) => name === backend) !== index) {
    const found =
      refs.length === 0 ? "it has no backends" : `its backends are ${refs.map(({ name }) => name).join(", ")}`;
    throw new NoHttpRouteBackend({ route, rule, backend, found });
  }
  return { refs, index, ref, others: refs.filter((other) => other !== ref) };
}

/**
 * A patch of the one weight. It fails if the backend is not as it was read. With a weight of 0 it also fails if the
 * backends that take over the load are not as they were read.
 */
export function weightPatch(
  rule: number,
  { refs, index, ref }: WeightedBackend,
  weight: number,
): readonly JsonPatchOperation[] {
  const path = (place: number) => `/spec/rules/${rule}/backendRefs/${place}`;
  const carriers = weight > 0 ? [] : refs.filter((other) => other !== ref && weightOf(other) > 0);
  return [
    ...[ref, ...carriers].map((read) => ({ op: "test" as const, path: path(refs.indexOf(read)), value: read })),
    { op: ref.weight === undefined ? "add" : "replace", path: `${path(index)}/weight`, value: weight },
  ];
}
