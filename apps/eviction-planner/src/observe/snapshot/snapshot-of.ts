import { parseNodeClass, parseWorkloadSLO } from "@evenkeel/api";
import { TimeSlice } from "@evenkeel/kube";
import { type Clock, systemClock } from "@evenkeel/runtime";
import type { ClusterSnapshot, PlanSnapshot } from "../../decide/snapshot.ts";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { Usage } from "../usage/usage.ts";
import { disruptionBudgetRow } from "./disruption-budgets.ts";
import { nodeRow, withUsedImages } from "./nodes.ts";
import { type InFlight, Owners } from "./owners.ts";
import { PodTable } from "./pod-table.ts";
import { Shapes } from "./shapes.ts";

/** What a snapshot has besides the cluster. Measurements count if they are current at the time `at`. */
export interface SnapshotOptions extends Omit<PlanSnapshot, "cluster"> {
  readonly clock?: Clock;
  /** Whether rollouts may be restarted to move the only pod of a workload. */
  readonly surges?: boolean;
  /** Evictions whose replacement is not ready yet. */
  readonly inFlight?: readonly InFlight[];
}

/** Milliseconds of work after which other work of the event loop has its turn. */
const SLICE = 20;

/** Puts the objects of a cluster and its usage together as a snapshot, without blocking the event loop for long. */
export async function snapshotOf(
  objects: ClusterObjects,
  usage: Usage,
  { clock = systemClock, surges = false, inFlight = [], ...options }: SnapshotOptions,
): Promise<PlanSnapshot> {
  const { at } = options;
  const slice = new TimeSlice(clock, SLICE);
  const csiNodes = new Map(Array.from(objects.csiNodes, (csiNode) => [csiNode.metadata.name, csiNode]));
  const nodes = Array.from(objects.nodes, (node) => {
    const { name = "" } = node.metadata;
    return nodeRow(node, csiNodes.get(name), usage.nodes.get(name), at);
  }).sort((one, other) => (one.name < other.name ? -1 : 1));
  const nodeIndexes = new Map(nodes.map(({ name }, index) => [name, index]));
  const owners = new Owners(objects, surges);
  const shapes = new Shapes(objects, owners);
  const pods = new PodTable({ nodeIndexes, shapes, owners, usage, at });
  if (slice.spent) await slice.rest();
  for (const pod of objects.pods) {
    if (!pod.isDone) pods.add(pod);
    if (slice.spent) await slice.rest();
  }
  for (const eviction of inFlight) owners.addInFlight(eviction);
  const cluster: ClusterSnapshot = {
    namespaces: Object.fromEntries(
      Array.from(objects.namespaces, ({ metadata }) => [metadata.name ?? "", metadata.labels ?? {}]),
    ),
    nodes: withUsedImages(nodes, shapes.shapes),
    shapes: shapes.shapes,
    owners: owners.rows,
    pods: pods.columns,
    disruptionBudgets: Array.from(objects.disruptionBudgets, disruptionBudgetRow),
    slos: slosOf(objects),
    nodeClasses: nodeClassesOf(objects),
  };
  return { ...options, cluster };
}

/** An SLO that cannot be read forbids every eviction in its namespace: it is there to protect something. */
function slosOf({ slos }: Pick<ClusterObjects, "slos">): ClusterSnapshot["slos"] {
  return Array.from(slos, (object) => {
    const { namespace = "", name = "" } = object.metadata;
    const parsed = parseWorkloadSLO(object);
    return { namespace, name, spec: parsed.ok ? parsed.value.spec : { maxDisruptionsPerHour: 0 } };
  });
}

/** A NodeClass that cannot be read prefers no node. */
function nodeClassesOf({ nodeClasses }: Pick<ClusterObjects, "nodeClasses">): ClusterSnapshot["nodeClasses"] {
  return Array.from(nodeClasses).flatMap((object) => {
    const parsed = parseNodeClass(object);
    return parsed.ok ? [{ name: object.metadata.name ?? "", spec: parsed.value.spec }] : [];
  });
}
