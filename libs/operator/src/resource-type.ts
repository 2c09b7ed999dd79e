import type { KindNames } from "@evenkeel/api";
import type { KubeObject, ResourceTypeOf } from "@evenkeel/kube";

/** The type of a kind's objects, as the API server's paths name it. */
export function resourceTypeOf<T extends KubeObject>(kind: KindNames): ResourceTypeOf<T> {
  const { group, version, plural, scope } = kind;
  return { group, version, kind: kind.kind, plural, namespaced: scope === "Namespaced" };
}
