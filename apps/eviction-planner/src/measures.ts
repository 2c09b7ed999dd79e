import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import { blockedBy } from "./act/status.ts";
import type { Plan } from "./decide/answer.ts";
import { OBSTACLE_CODES } from "./decide/obstacles.ts";
import type { ClusterSnapshot } from "./decide/snapshot.ts";
import type { metrics } from "./metrics.ts";
import type { NodeLevel } from "./observe/node-levels.ts";

export interface MeasuresOptions {
  readonly metrics: Metrics<typeof metrics>;
  readonly registry: Pick<MetricRegistry, "forget">;
}

/** Sets the gauges from what a reconcile found. The series of a node or a namespace go when it does. */
export class Measures {
  readonly #options: MeasuresOptions;
  /** By policy, the nodes whose series it set last. */
  readonly #nodes = new Map<string, ReadonlySet<string>>();
  #namespaces: ReadonlySet<string> = new Set();
  /** By policy, the uids of the pods that its last dry run planned to evict. */
  readonly #planned = new Map<string, ReadonlySet<string>>();

  constructor(options: MeasuresOptions) {
    this.#options = options;
  }

  plan(name: string, plan: Plan): void {
    const { metrics } = this.#options;
    const { before = NaN, predicted = NaN, bound = NaN } = plan.sigma ?? {};
    metrics.sigma.set({ name }, before);
    metrics.variance.set({ name }, before * before);
    metrics.sigmaPredicted.set({ name }, predicted);
    metrics.sigmaLowerBound.set({ name }, bound);
    metrics.hotNodes.set({ name }, plan.nodes.hot);
    metrics.planned.set({ name }, plan.moves.length);
    const blocked = blockedBy(plan);
    for (const reason of OBSTACLE_CODES) metrics.blocked.set({ name, reason }, blocked[reason] ?? 0);
  }

  /** A pod counts once while it stays in the plan, however often the plan is made. */
  dryRun(name: string, { moves }: Plan): void {
    const before = this.#planned.get(name) ?? new Set<string>();
    const now = new Set(moves.map(({ pod }) => pod.uid));
    this.#options.metrics.dryRunEvictions.inc({}, without(now, before).length);
    this.#planned.set(name, now);
  }

  /** The series of a node stay while any policy has its level: one without usage takes nothing from the others. */
  nodes(policy: string, levels: readonly NodeLevel[]): void {
    const { metrics } = this.#options;
    this.#setNodes(policy, new Set(levels.map(({ name }) => name)));
    for (const { name: node, cpu, memory } of levels) {
      metrics.nodeUtilization.set({ node, resource: "cpu" }, cpu ?? NaN);
      metrics.nodeUtilization.set({ node, resource: "memory" }, memory ?? NaN);
    }
  }

  /** What the strictest WorkloadSLO of each namespace still allows in this hour. */
  budgets(slos: ClusterSnapshot["slos"], lastHour: Readonly<Record<string, number>>): void {
    const { metrics, registry } = this.#options;
    const left = new Map<string, number>();
    for (const { namespace, name, spec } of slos) {
      const used = lastHour[`${namespace}/${name}`] ?? 0;
      const own = spec.maxDisruptionsPerHour === undefined ? Infinity : Math.max(0, spec.maxDisruptionsPerHour - used);
      left.set(namespace, Math.min(own, left.get(namespace) ?? Infinity));
    }
    for (const namespace of without(this.#namespaces, left)) registry.forget({ namespace });
    this.#namespaces = new Set(left.keys());
    for (const [namespace, count] of left)
      metrics.budgetRemaining.set({ namespace }, Number.isFinite(count) ? count : -1);
  }

  forget(name: string): void {
    this.#planned.delete(name);
    this.#setNodes(name, new Set());
    this.#nodes.delete(name);
  }

  endTerm(): void {
    this.#planned.clear();
    this.#nodes.clear();
    this.#namespaces = new Set();
  }

  #setNodes(policy: string, names: ReadonlySet<string>): void {
    const before = this.#nodes.get(policy) ?? new Set<string>();
    this.#nodes.set(policy, names);
    const known = new Set([...this.#nodes.values()].flatMap((each) => [...each]));
    for (const node of without(before, known)) this.#options.registry.forget({ node });
  }
}

function without(names: Iterable<string>, left: { has(name: string): boolean }): readonly string[] {
  return [...names].filter((name) => !left.has(name));
}
