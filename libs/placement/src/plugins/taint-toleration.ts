import type { Taint, Toleration } from "../facts.ts";

/** Whether a taint keeps the pod away: one with NoSchedule or NoExecute that it does not tolerate. */
export function hasUntoleratedTaint(taints: readonly Taint[], tolerations: readonly Toleration[]): boolean {
  return taints.some(
    (taint) => (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !tolerates(tolerations, taint),
  );
}

/** PreferNoSchedule taints that the pod does not tolerate; the fewer, the better. */
export function intolerableTaints(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  return taints.filter((taint) => taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint)).length;
}

export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(({ key = "", operator = "Equal", value = "", effect = "" }) => {
    if (effect !== "" && effect !== taint.effect) return false;
    if (key !== "" && key !== taint.key) return false;
    if (operator === "Exists") return true;
    return (operator === "Equal" || operator === "") && value === (taint.value ?? "");
  });
}

/** Of 100: all of it without such taints, none on a node with the most of them. */
export function taintScore(intolerable: number, most: number): number {
  return most === 0 ? 100 : 100 - Math.trunc((100 * intolerable) / most);
}
