import { describe, expect, test } from "@jest/globals";
import { Placement } from "@evenkeel/placement";
import fc from "fast-check";
import { withHashedNames } from "../observe/files/hashed-names.ts";
import { NO_MEMORY, type PodSpec, snapshotOf, type World } from "../testing/sample-snapshot.ts";
import type { Plan } from "./answer.ts";
import { OBSTACLE_CODES } from "./obstacles.ts";
import { plan } from "./plan.ts";
import { type PlanSnapshot, POD } from "./snapshot.ts";

const share = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((thousandths) => thousandths / 1000);

const flags = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(...Object.values(POD)) },
);

function worlds(): fc.Arbitrary<World> {
  return fc.integer({ min: 2, max: 7 }).chain((count) => {
    const node = fc.nat(count - 1).map((index) => `n${index}`);
    const pod: fc.Arbitrary<PodSpec> = fc.record({
      node: fc.oneof({ weight: 2, arbitrary: fc.constant("n0") }, { weight: 3, arbitrary: node }),
      load: fc.oneof({ weight: 9, arbitrary: share(10, 300) }, { weight: 1, arbitrary: fc.constant(null) }),
      requested: share(0, 300),
      owner: fc.constantFrom("web", "api", "db", "job"),
      namespace: fc.constantFrom("shop", "bank"),
      labels: fc.constantFrom<Record<string, string>>({}, { app: "web" }, { app: "api" }),
      flags,
      priority: fc.constantFrom(0, 0, 0, 1000, 2e9),
      shape: fc.constantFrom<NonNullable<PodSpec["shape"]>>(
        {},
        {},
        { nodeSelector: { "kubernetes.io/hostname": "n1" } },
        { hostPorts: [{ address: "", protocol: "TCP", port: 80 }] },
        { antiAffinity: { required: [ANTI_AFFINITY], preferred: [] } },
      ),
    });
    return fc.record({
      nodes: fc.tuple(
        ...Array.from({ length: count }, (_, index) =>
          fc.record({
            name: fc.constant(`n${index}`),
            capacity: fc.constantFrom(1, 1, 1, 2),
            rest: fc.oneof({ weight: 6, arbitrary: share(0, 500) }, { weight: 1, arbitrary: fc.constant(null) }),
          }),
        ),
      ),
      pods: fc.array(pod, { minLength: 1, maxLength: 16 }),
      owners: fc.constant({ db: { kind: "StatefulSet" }, job: { kind: "Job" } }),
      disruptionBudgets: fc.uniqueArray(
        fc.record({
          namespace: fc.constantFrom("shop", "bank"),
          name: fc.constantFrom("one", "two"),
          selector: fc.constantFrom(null, {}, { matchLabels: { app: "web" } }),
          disruptionsAllowed: fc.nat(2),
          isCurrent: fc.integer({ min: 0, max: 4 }).map((roll) => roll > 0),
        }),
        { maxLength: 3, selector: nameOf },
      ),
      slos: fc.uniqueArray(
        fc.record({
          namespace: fc.constantFrom("shop", "bank"),
          name: fc.constantFrom("mild", "strict"),
          spec: fc.record(
            { maxDisruptionsPerHour: fc.nat(3), allowStatefulSetEviction: fc.boolean() },
            { requiredKeys: [] },
          ),
        }),
        { maxLength: 2, selector: nameOf },
      ),
    });
  });
}

const nameOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`;

const ANTI_AFFINITY = {
  topologyKey: "kubernetes.io/hostname",
  selector: { matchLabels: { app: "web" } },
  namespaces: { names: ["shop", "bank"], selector: null },
};

const snapshots: fc.Arbitrary<PlanSnapshot> = fc
  .record({
    world: worlds(),
    policy: fc.record(
      {
        targetSigma: fc.constantFrom(0, 0.05),
        maxEvictionsPerNamespace: fc.nat(3),
        basis: fc.constantFrom("usage" as const, "requests" as const),
      },
      { requiredKeys: [] },
    ),
    budget: fc.nat(8),
    isCarriedOut: fc.boolean(),
  })
  .map(({ world, policy, budget, isCarriedOut }) => {
    const thresholds = { hotThreshold: 0.6, coldThreshold: 0.3 };
    const levels = Object.fromEntries(world.nodes.map(({ name }) => [name, { level: "above", since: 0 } as const]));
    const memory = isCarriedOut ? { ...NO_MEMORY, levels } : null;
    return snapshotOf(world, { ...thresholds, ...policy }, { budget, memory });
  });

const runs = { seed: 7, numRuns: 150 };

/** Calls `check` before each move of a plan, with the pod's row and a model of the cluster at that point. */
function replay(
  { cluster }: PlanSnapshot,
  { moves }: Plan,
  check: (pod: number, to: number, placement: Placement) => void,
): void {
  const { nodes, shapes, namespaces, pods } = cluster;
  const placement = new Placement(nodes, shapes, namespaces);
  const nodeOf = new Map(nodes.map(({ name }, node) => [name, node]));
  pods.uid.forEach((_, pod) => {
    const [shape, node] = [pods.shape[pod] ?? -1, pods.node[pod] ?? -1];
    placement.add(shape, node);
    if (((pods.flags[pod] ?? 0) & POD.terminating) !== 0) placement.terminate(shape, node);
  });
  for (const { pod, countedOn } of moves) {
    const row = pods.uid.indexOf(pod.uid);
    const to = nodeOf.get(countedOn) ?? -1;
    const [shape, node] = [pods.shape[row] ?? -1, pods.node[row] ?? -1];
    const isStateful = cluster.owners[pods.owner[row] ?? -1]?.kind === "StatefulSet";
    placement.remove(shape, node);
    if (!isStateful) {
      placement.add(shape, node);
      placement.terminate(shape, node);
    }
    check(row, to, placement);
    if (!isStateful) placement.removeTerminated(shape, node);
    placement.add(shape, to);
  }
}

describe("whatever the cluster", () => {
  test("every move lands where all filters of the scheduler let it, also after the moves before it", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        replay(snapshot, plan(snapshot), (pod, to, placement) => {
          expect(placement.whyNot(snapshot.cluster.pods.shape[pod] ?? -1, to)).toBeUndefined();
        });
      }),
      runs,
    );
  });

  test("no prefix of a plan exceeds a disruption budget, an hour, a namespace or the budget", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { cluster, policy, budget, memory } = snapshot;
        const { moves } = plan(snapshot);
        expect(moves.length).toBeLessThanOrEqual(budget);
        if (memory !== null) expect(moves.length).toBeLessThanOrEqual(policy.spec.maxEvictionsPerMinute);
        const evicted = moves.map(({ pod, shape }) => ({ ...pod, labels: cluster.shapes[shape]?.labels ?? {} }));
        for (const { namespace, selector, disruptionsAllowed, isCurrent } of cluster.disruptionBudgets) {
          const wanted = Object.entries(selector?.matchLabels ?? {});
          const matching = evicted.filter(
            (pod) =>
              selector !== null &&
              pod.namespace === namespace &&
              wanted.every(([key, value]) => pod.labels[key] === value),
          );
          expect(matching.length).toBeLessThanOrEqual(isCurrent ? disruptionsAllowed : 0);
        }
        for (const { namespace, spec } of cluster.slos) {
          const count = evicted.filter((pod) => pod.namespace === namespace).length;
          expect(count).toBeLessThanOrEqual(spec.maxDisruptionsPerHour ?? Infinity);
        }
        for (const namespace of ["shop", "bank"]) {
          const count = evicted.filter((pod) => pod.namespace === namespace).length;
          expect(count).toBeLessThanOrEqual(policy.spec.maxEvictionsPerNamespace ?? Infinity);
        }
      }),
      runs,
    );
  });

  test("the predicted σ is that of the cluster with the moves made, and never below the bound", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { cluster, budget } = snapshot;
        const made = plan(snapshot);
        fc.pre(made.sigma !== null && made.moves.length > 0);
        const moved = new Map(made.moves.map(({ pod, countedOn }) => [pod.uid, countedOn]));
        const nodeOf = new Map(cluster.nodes.map(({ name }, node) => [name, node]));
        // What is moved is used where it lands, and is no longer used where it was.
        const nodes = cluster.nodes.map((row) => ({ ...row, usage: row.usage && { ...row.usage } }));
        const node = cluster.pods.uid.map((uid, pod) => {
          const home = cluster.pods.node[pod] ?? -1;
          const to = nodeOf.get(moved.get(uid) ?? "") ?? home;
          const [from, target] = [nodes[home]?.usage, nodes[to]?.usage];
          const [cpu, memory] = [
            Math.max(0, cluster.pods.cpuUsage[pod] ?? 0),
            Math.max(0, cluster.pods.memoryUsage[pod] ?? 0),
          ];
          if (from != null && target != null) {
            from.cpu -= cpu;
            from.memory -= memory;
            target.cpu += cpu;
            target.memory += memory;
          }
          return to;
        });
        const after = { ...cluster, nodes, pods: { ...cluster.pods, node } };
        const { sigma } = plan({ ...snapshot, cluster: after, budget: 0 });
        expect(made.sigma.predicted).toBeCloseTo(sigma?.before ?? NaN, 9);
        expect(made.curve.predicted).toHaveLength(made.moves.length + 1);
        for (const [moves, predicted] of made.curve.predicted.entries()) {
          expect(predicted).toBeGreaterThanOrEqual((made.curve.bound[Math.min(moves, budget)] ?? NaN) - 1e-9);
        }
      }),
      runs,
    );
  });

  test("the order of rows changes nothing", () => {
    fc.assert(
      fc.property(snapshots, fc.infiniteStream(fc.nat()), (snapshot, stream) => {
        expect(plan(shuffled(snapshot, stream))).toEqual(plan(snapshot));
      }),
      runs,
    );
  });

  test("hashed names change nothing but names", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const shape = ({ outcome, moves, stays, sigma, curve }: Plan) => ({
          outcome,
          moves: moves.length,
          codes: stays.map(({ code }) => code).sort(),
          sigma: [sigma?.before, sigma?.predicted, ...curve.predicted].map((value) => value?.toFixed(9)),
        });
        expect(shape(plan(withHashedNames(snapshot, "salt")))).toEqual(shape(plan(snapshot)));
      }),
      runs,
    );
  });

  test("nodes of unknown load are frozen", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { moves, nodes } = plan(snapshot);
        const frozen = new Set(nodes.frozen.map(({ node }) => node));
        expect(moves.filter(({ from, countedOn }) => frozen.has(from) || frozen.has(countedOn))).toEqual([]);
      }),
      runs,
    );
  });

  test("each pod of a hot node is moved or has a code", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { cluster } = snapshot;
        const { moves, stays, nodes, levels, outcome } = plan(snapshot);
        fc.pre(outcome !== "NothingKnown");
        const frozen = new Set(nodes.frozen.map(({ node }) => node));
        const hot = cluster.nodes.filter(({ name }) => levels[name]?.level === "above" && !frozen.has(name));
        const names = new Set(hot.map(({ name }) => name));
        const pods = cluster.pods.uid.filter((_, pod) =>
          names.has(cluster.nodes[cluster.pods.node[pod] ?? -1]?.name ?? ""),
        );
        const told = new Set([...moves.map(({ pod }) => pod.uid), ...stays.map(({ pod }) => pod.uid)]);
        expect(pods.filter((uid) => !told.has(uid))).toEqual([]);
        expect(stays.filter(({ code }) => !OBSTACLE_CODES.includes(code))).toEqual([]);
      }),
      runs,
    );
  });
});

/** The same snapshot with nodes, pods and owners in another order. */
function shuffled(snapshot: PlanSnapshot, stream: fc.Stream<number>): PlanSnapshot {
  const { cluster } = snapshot;
  const orderOf = (length: number): number[] => {
    const keys = [...stream.take(length)];
    return [...keys.keys()].sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b);
  };
  const pick = <T>(values: ArrayLike<T>, order: readonly number[]): T[] => order.map((index) => values[index] as T);
  const nodeOrder = orderOf(cluster.nodes.length);
  const podOrder = orderOf(cluster.pods.uid.length);
  const columns = Object.entries(cluster.pods).map(([name, column]): [string, ArrayLike<unknown>] => [
    name,
    name === "workloadKinds" ? (column as string[]) : pick(column as ArrayLike<unknown>, podOrder),
  ]);
  const pods = Object.fromEntries(columns) as unknown as typeof cluster.pods;
  return {
    ...snapshot,
    cluster: {
      ...cluster,
      nodes: pick(cluster.nodes, nodeOrder),
      pods: { ...pods, node: Array.from(pods.node, (node) => nodeOrder.indexOf(node)) },
      disruptionBudgets: cluster.disruptionBudgets.toReversed(),
      slos: cluster.slos.toReversed(),
    },
  };
}
