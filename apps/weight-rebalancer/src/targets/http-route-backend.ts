import type { JsonPatchOperation } from "@evenkeel/kube";
import { NoHttpRouteBackend, NoHttpRouteRule } from "../errors.ts";
import type { HttpBackendRef, HttpRoute } from "./http-route.ts";

/** Which backend a spec means. */
export interface BackendId {
  /** `namespace/name`, as messages have it. */
  readonly route: string;
  readonly rule: number;
  readonly backend: string;
}

/** A backend with what shares its load. */
export interface WeightedBackend {
  /** The rule's backendRefs. */
  readonly refs: readonly HttpBackendRef[];
  /** Its place among them. */
  readonly index: number;
  readonly ref: HttpBackendRef;
  readonly others: readonly HttpBackendRef[];
}

/** What a backendRef without a weight has. */
const DEFAULT_WEIGHT = 1;

export function weightOf({ weight = DEFAULT_WEIGHT }: HttpBackendRef): number {
  return weight;
}

/** The backend in the route. Throws a terminal error that says what is there instead. */
export function findBackend({ route, rule, backend }: BackendId, { spec }: HttpRoute): WeightedBackend {
  const rules = spec?.rules ?? [];
  const refs = rules[rule]?.backendRefs ?? [];
  if (rules[rule] === undefined) {
    const found = rules.length === 0 ? "it has none" : `it has the rules 0 to ${rules.length - 1}`;
    throw new NoHttpRouteRule({ route, rule, found });
  }
  const index = refs.findIndex(({ name }) => name === backend);
  const ref = refs[index];
  if (ref === undefined || refs.findLastIndex(({ name }) => name === backend) !== index) {
    const found = refs.length === 0 ? "it has none" : `its backends are ${refs.map(({ name }) => name).join(", ")}`;
    throw new NoHttpRouteBackend({ route, rule, backend, found });
  }
  return { refs, index, ref, others: refs.filter((other) => other !== ref) };
}

/**
 * A patch of the one weight. It fails if the backend is not in its place as it was read, its weight or the lack of one included; with
 * a weight of 0 also if what is to carry the load instead is not.
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
