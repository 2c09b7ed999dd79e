import type { Amounts } from "./facts.ts";
import type {
  ContainerJson,
  ContainerStatusJson,
  PodSpecJson,
  PodStatusJson,
  QuantitiesJson,
} from "./kubernetes-json.ts";
import { wholeUnits } from "./quantity.ts";

/** What a container without a request counts in scores: 100m and 200Mi. */
const SCORED_WITHOUT_REQUEST: Amounts = { cpu: 100, memory: 200 * 2 ** 20 };

/**
 * Quantities in the scheduler's units: milli-CPU for `cpu`, whole units for everything else. NaN for what is no
 * quantity.
 */
export function amounts(quantities: QuantitiesJson = {}): Amounts {
  return Object.fromEntries(
    Object.entries(quantities).map(([name, text]) => [name, wholeUnits(text, name === "cpu" ? 3 : 0)]),
  );
}

/**
 * What a pod takes of its node: the sum of its containers and sidecars, at least the largest step of its init
 * containers, with pod-level requests in their place and overhead added. With a status, a container that is being
 * resized counts as the largest of what it wants, has been promised and has.
 */
export function effectiveRequests(spec: PodSpecJson, status: PodStatusJson = {}): Amounts {
  return requestsOf(spec, status, {});
}

/**
 * As {@link effectiveRequests}, where a container without a request counts 100m and 200Mi. The scheduler scores with
 * it.
 */
export function scoredRequests(spec: PodSpecJson, status: PodStatusJson = {}): { cpu: number; memory: number } {
  const { cpu = 0, memory = 0 } = requestsOf(spec, status, SCORED_WITHOUT_REQUEST);
  return { cpu, memory };
}

function requestsOf(spec: PodSpecJson, status: PodStatusJson, missing: Amounts): Amounts {
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((one) => [one.name, one]),
  );
  const infeasible = status.conditions?.find(({ type }) => type === "PodResizePending")?.reason === "Infeasible";
  const of = (container: ContainerJson, known: ContainerStatusJson | undefined): Amounts => ({
    ...missing,
    ...(known?.resources === undefined
      ? amounts(container.resources?.requests)
      : resized(container.resources?.requests, known.resources.requests, known.allocatedResources, infeasible)),
  });
  let total: Amounts = {};
  for (const container of spec.containers ?? []) total = plus(total, of(container, statuses.get(container.name)));
  let sidecars: Amounts = {};
  let largestStep: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === "Always";
    const own = of(container, isSidecar ? statuses.get(container.name) : undefined);
    const step = plus(sidecars, own);
    if (isSidecar) [total, sidecars] = [plus(total, own), step];
    largestStep = most(largestStep, step);
  }
  total = most(total, largestStep);
  const podLevel = podLevelRequests(spec, status, infeasible);
  return plus({ ...total, ...podLevel }, amounts(spec.overhead));
}

/**
 * Requests of the pod as a whole, which replace the sum of its containers; only processors, memory and huge pages have
 * them.
 */
function podLevelRequests(spec: PodSpecJson, status: PodStatusJson, infeasible: boolean): Amounts {
  const wanted = spec.resources?.requests;
  if (wanted === undefined) return {};
  const all =
    status.resources === undefined
      ? amounts(wanted)
      : resized(wanted, status.resources.requests, status.allocatedResources, infeasible);
  const isPodLevel = (name: string): boolean => name === "cpu" || name === "memory" || name.startsWith("hugepages-");
  return Object.fromEntries(Object.entries(all).filter(([name]) => isPodLevel(name) && Object.hasOwn(wanted, name)));
}

function resized(
  wanted: QuantitiesJson | undefined,
  actual: QuantitiesJson | undefined,
  allocated: QuantitiesJson | undefined,
  infeasible: boolean,
): Amounts {
  const held = most(amounts(actual), amounts(allocated));
  return infeasible ? held : most(held, amounts(wanted));
}

function plus(one: Amounts, other: Amounts): Amounts {
  return merge(one, other, (a, b) => a + b);
}

function most(one: Amounts, other: Amounts): Amounts {
  return merge(one, other, (a, b) => Math.max(a, b));
}

function merge(one: Amounts, other: Amounts, join: (a: number, b: number) => number): Amounts {
  const result: Record<string, number> = { ...one };
  for (const [name, value] of Object.entries(other)) result[name] = join(result[name] ?? 0, value);
  return result;
}
