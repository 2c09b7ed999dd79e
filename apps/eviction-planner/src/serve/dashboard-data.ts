import { parseRebalancePolicy, type RebalancePolicyStatus } from "@evenkeel/api";
import type { Node } from "@evenkeel/kube";
import { nodeFacts } from "@evenkeel/placement";
import type { Clock } from "@evenkeel/runtime";
import type { StoredPolicy } from "../policy-resource.ts";
import type { PolicyBoard, ShownPolicy } from "./plan-view.ts";

/** A node as the original's dashboard shows it. Where its load is unknown, usage and utilisation are null. */
export interface DashboardNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Cores. */
  readonly cpuCapacity: number;
  readonly cpuUsage: number | null;
  readonly cpuUtilization: number | null;
  /** Bytes. */
  readonly memoryCapacity: number;
  readonly memoryUsage: number | null;
  readonly memoryUtilization: number | null;
  readonly classification: "hot" | "cold" | "balanced";
}

export interface DashboardPolicy {
  readonly name: string;
  readonly targetVariance: number;
  readonly hotThreshold: number;
  readonly coldThreshold: number;
  readonly maxEvictionsPerMinute: number;
  readonly maxEvictionsPerNamespace: number | null;
  readonly dryRun: boolean;
  readonly plan: RebalancePolicyStatus["plan"] | null;
  readonly namespacesAllowed: readonly string[];
  readonly namespacesExcluded: readonly string[];
}

/** What the original serves at `/dashboard/data`. */
export interface DashboardData {
  readonly generatedAt: string;
  readonly nodes: readonly DashboardNode[];
  readonly policies: readonly DashboardPolicy[];
}

export interface DashboardDataOptions {
  readonly board: Pick<PolicyBoard, "keys" | "shown">;
  readonly policies: () => Iterable<StoredPolicy>;
  readonly nodes: () => Iterable<Node>;
  readonly clock: Clock;
}

/** The original never shows more than twice the capacity. */
const MOST = 2;

/**
 * Undefined before the first plan, and where this replica does not lead. The first policy by name classifies the nodes.
 */
export function dashboardData({ board, policies, nodes, clock }: DashboardDataOptions): DashboardData | undefined {
  const shown = board
    .keys()
    .toSorted()
    .map((key) => board.shown(key))
    .find((each) => each?.plan?.sigma);
  if (shown === undefined) return undefined;
  const levels = new Map(shown.levels.map((level) => [level.name, level]));
  return {
    generatedAt: new Date(clock.now()).toISOString(),
    nodes: Array.from(nodes(), (node) => dashboardNode(node, levels.get(node.metadata.name ?? ""), shown)).sort(byName),
    policies: Array.from(policies(), dashboardPolicy).flat().sort(byName),
  };
}

function dashboardNode(
  node: Node,
  level: ShownPolicy["levels"][number] | undefined,
  { plan }: ShownPolicy,
): DashboardNode {
  const { name = "", labels = {} } = node.metadata;
  const { cpu = 0, memory = 0 } = nodeFacts(node, undefined).allocatable;
  const used = (share: number | null | undefined, capacity: number) => (share == null ? null : share * capacity);
  const band = plan?.levels[name]?.level;
  return {
    ...{ name, labels, cpuCapacity: cpu / 1000, memoryCapacity: memory },
    cpuUsage: used(level?.cpu, cpu / 1000),
    cpuUtilization: clamped(level?.cpu),
    memoryUsage: used(level?.memory, memory),
    memoryUtilization: clamped(level?.memory),
    classification: band === "above" ? "hot" : band === "below" ? "cold" : "balanced",
  };
}

function clamped(share: number | null | undefined): number | null {
  return share == null ? null : Math.min(MOST, Math.max(0, share));
}

/** A policy whose spec cannot be read has nothing to show. */
function dashboardPolicy(object: StoredPolicy): readonly DashboardPolicy[] {
  const parsed = parseRebalancePolicy(object);
  if (!parsed.ok) return [];
  const { spec } = parsed.value;
  const { targetVariance, hotThreshold, coldThreshold, maxEvictionsPerMinute, dryRun, namespaces } = spec;
  return [
    {
      ...{
        name: object.metadata.name ?? "",
        targetVariance,
        hotThreshold,
        coldThreshold,
        maxEvictionsPerMinute,
        dryRun,
      },
      maxEvictionsPerNamespace: spec.maxEvictionsPerNamespace ?? null,
      plan: object.status?.plan ?? null,
      namespacesAllowed: namespaces?.include ?? [],
      namespacesExcluded: namespaces?.exclude ?? [],
    },
  ];
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
