import { fieldsOr, listOr, textOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import { conditionOf, isGoing, specOf } from "../object-state.ts";
import { type Amounts, RESOURCES } from "./requests.ts";

/** A node as the scheduler sees it: what it has, and what pods that are bound to it take up. */
export interface NodeRoom {
  readonly node: StoredObject;
  readonly allocatable: Amounts;
  readonly used: Amounts;
}

export function isNodeReady(node: StoredObject): boolean {
  return conditionOf(node, "Ready")?.["status"] === "True";
}

/** Why a node does not take a pod, in the scheduler's words; undefined if it does. */
export function whyNot(
  pod: StoredObject,
  requests: Amounts,
  { node, allocatable, used }: NodeRoom,
): string | undefined {
  if (isGoing(node) || !isNodeReady(node)) return "node(s) were not ready";
  const { unschedulable, taints } = specOf(node);
  if (unschedulable === true) return "node(s) were unschedulable";
  const selector = Object.entries(fieldsOr(specOf(pod)["nodeSelector"]));
  if (selector.some(([key, value]) => node.metadata.labels?.[key] !== value))
    return "node(s) didn't match Pod's node affinity/selector";
  if (!tolerates(pod, listOr(taints))) return "node(s) had untolerated taint(s)";
  // Said so that NaN, which is unknown, does not fit.
  const lacking = RESOURCES.find(
    (resource) => !(requests[resource] <= allocatable[resource] - used[resource]) && requests[resource] !== 0,
  );
  if (lacking === undefined) return undefined;
  return lacking === "pods" ? "Too many pods" : `Insufficient ${lacking}`;
}

/** How much of the node stays free with the pod on it: the mean share of processors and memory, 0 to 1. */
export function freeShare(requests: Amounts, { allocatable, used }: NodeRoom): number {
  const share = (of: "cpu" | "memory"): number =>
    allocatable[of] > 0 ? (allocatable[of] - used[of] - requests[of]) / allocatable[of] : 0;
  return (share("cpu") + share("memory")) / 2;
}

function tolerates(pod: StoredObject, taints: readonly unknown[]): boolean {
  const tolerations = listOr(specOf(pod)["tolerations"]).map(fieldsOr);
  return taints.map(fieldsOr).every((taint) => {
    const effect = textOr(taint["effect"]);
    if (effect !== "NoSchedule" && effect !== "NoExecute") return true;
    return tolerations.some(
      ({ key, operator, value, effect: of }) =>
        (of === undefined || of === "" || of === effect) &&
        (key === undefined || key === "" ? operator === "Exists" : key === taint["key"]) &&
        (operator === "Exists" || textOr(value) === textOr(taint["value"])),
    );
  });
}
