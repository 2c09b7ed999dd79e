import { type Fields, fieldsOr, listOr } from "../../json.ts";
import type { StoredObject } from "../../object.ts";
import { specOf, statusOf } from "../object-state.ts";
import { quantity } from "./quantity.ts";

/** What pods take up of a node: millicores, bytes, and pods. Whole numbers, so that sums that come back are zero again. */
export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

export type Resource = keyof Amounts;

export const RESOURCES: readonly Resource[] = ["cpu", "memory", "pods"];
export const NOTHING: Amounts = { cpu: 0, memory: 0, pods: 0 };

/**
 * What a pod asks for: its containers together, or its largest init container if that is more, and its overhead. A limit stands in
 * for a request that is missing. A quantity that cannot be read is NaN, which fits nowhere.
 */
export function requestsOf(pod: StoredObject): Amounts {
  const { containers, initContainers, overhead } = specOf(pod);
  const running = listOr(containers)
    .map(requested)
    .reduce((one, other) => plus(one, other), NOTHING);
  const peak = listOr(initContainers).map(requested).reduce(most, running);
  return { ...plus(peak, amounts(fieldsOr(overhead), 0)), pods: 1 };
}

/** What a node has to give. What it does not name it has not. */
export function allocatableOf(node: StoredObject): Amounts {
  const { allocatable, capacity } = statusOf(node);
  const given = { ...fieldsOr(capacity), ...fieldsOr(allocatable) };
  return { ...amounts(given, 0), pods: Math.floor(quantity(given["pods"] ?? 0)) };
}

export function plus(one: Amounts, other: Amounts, sign: 1 | -1 = 1): Amounts {
  return {
    cpu: one.cpu + sign * other.cpu,
    memory: one.memory + sign * other.memory,
    pods: one.pods + sign * other.pods,
  };
}

function most(one: Amounts, other: Amounts): Amounts {
  return { cpu: Math.max(one.cpu, other.cpu), memory: Math.max(one.memory, other.memory), pods: one.pods };
}

function requested(container: unknown): Amounts {
  const { requests, limits } = fieldsOr(fieldsOr(container)["resources"]);
  return amounts({ ...fieldsOr(limits), ...fieldsOr(requests) }, 0);
}

function amounts({ cpu = 0, memory = 0 }: Fields, pods: number): Amounts {
  return { cpu: Math.ceil(quantity(cpu) * 1000), memory: Math.ceil(quantity(memory)), pods };
}
