import { describe, expect, test } from "@jest/globals";
import { SimulatedCluster } from "../testing/simulated-cluster.ts";
import { plan } from "./plan.ts";

const MINUTE = 60_000;
const TURN = 30_000;
const nodes = ["a", "b", "c", "d"].map((name) => ({ name }));
/** Ten workloads of one pod each on one node. */
const hotSpot = Array.from({ length: 10 }, (_, index) => ({ owner: `web-${index}`, node: "a", load: 0.09 }));
const policy = { maxEvictionsPerMinute: 100 };

test("with a grace of ten minutes and turns of 30 s, evictions are those of the one-shot plan", () => {
  const cluster = new SimulatedCluster({ nodes, pods: hotSpot, policy, grace: 10 * MINUTE });
  const oneShot = plan(cluster.snapshot(null)).moves.length;
  expect(oneShot).toBeGreaterThan(0);
  for (let turn = 0; turn < 60; turn += 1) cluster.turn(TURN);
  expect(cluster.evictedAt).toHaveLength(oneShot);
});

test("with a targetSigma, waves of one pod per node end where the one-shot plan ends", () => {
  const cluster = new SimulatedCluster({ nodes, pods: hotSpot, policy: { ...policy, targetSigma: 0.02 } });
  const { moves, sigma } = plan(cluster.snapshot(null));
  for (let turn = 0; turn < 60; turn += 1) cluster.turn(TURN);
  expect(cluster.evictedAt.length).toBeLessThanOrEqual(moves.length);
  expect(plan(cluster.snapshot(null)).sigma?.before).toBeLessThanOrEqual((sigma?.predicted ?? 0) + 0.02);
});

test("no minute and no hour has more evictions than the policy and the WorkloadSLO allow", () => {
  const slos = [{ namespace: "shop", name: "hour", spec: { maxDisruptionsPerHour: 4 } }];
  const limited = { targetSigma: 0.001, maxEvictionsPerMinute: 2 };
  const pods = nodes.slice(0, 2).flatMap(({ name }) => {
    return Array.from({ length: 12 }, (_, index) => ({ owner: `${name}-${index}`, node: name, load: 0.06 }));
  });
  const cluster = new SimulatedCluster({ nodes, pods, policy: limited, slos });
  for (let turn = 0; turn < 260; turn += 1) cluster.turn(TURN);
  const within = (span: number) =>
    Math.max(
      ...cluster.evictedAt.map(
        ({ at }) => cluster.evictedAt.filter((each) => each.at >= at && each.at < at + span).length,
      ),
    );
  expect(cluster.evictedAt.length).toBeGreaterThan(8);
  expect(within(MINUTE)).toBeLessThanOrEqual(2);
  expect(within(60 * MINUTE)).toBeLessThanOrEqual(4);
});

test("under a scheduler that packs nodes, forecasts fail and evictions end within 50", () => {
  const pods = nodes.flatMap(({ name }, index) =>
    Array.from({ length: 15 - 4 * index }, (_, pod) => ({ owner: `${name}-${pod}`, node: name, load: 0.06 })),
  );
  const cluster = new SimulatedCluster({
    ...{ nodes, pods, scheduling: "MostAllocated" },
    policy: { targetSigma: 0.001, maxEvictionsPerMinute: 100, backoffDuration: "1m" },
  });
  for (let turn = 0; turn < 60; turn += 1) cluster.turn(TURN);
  const total = cluster.evictedAt.length;
  expect(total).toBeLessThanOrEqual(50);
  for (let turn = 0; turn < 20; turn += 1) cluster.turn(TURN);
  expect(cluster.evictedAt).toHaveLength(total);
});

test("a workload whose replacements never become ready loses one pod, and after an hour others go on", () => {
  const pods = [
    ...Array.from({ length: 4 }, () => ({ owner: "app", node: "a", load: 0.12 })),
    ...Array.from({ length: 6 }, (_, index) => ({ owner: `web-${index}`, node: "a", load: 0.08 })),
  ];
  const limits = { targetSigma: 0.02, maxEvictionsPerMinute: 1 };
  const cluster = new SimulatedCluster({ nodes, pods, policy: limits, broken: "app" });
  for (let turn = 0; turn < 8 * 30; turn += 1) cluster.turn(2 * MINUTE);
  const [first] = cluster.evictedAt;
  expect(first?.owner).toBe("app");
  expect(cluster.evictedAt.filter(({ owner }) => owner === "app")).toHaveLength(1);
  const since = (length: number) => cluster.evictedAt.filter(({ at }) => at - (first?.at ?? NaN) >= length);
  expect(since(10 * MINUTE)).toEqual(since(60 * MINUTE));
  expect(since(60 * MINUTE)).not.toEqual([]);
});

test("usage that is averaged over five minutes evicts the pods that usage of the moment evicts", () => {
  const pods = [12, 4, 4].flatMap((count, node) => {
    return Array.from({ length: count }, (_, pod) => ({
      owner: `${node}-${pod}`,
      node: "abc"[node] ?? "",
      load: 0.08,
    }));
  });
  const evicted = (window: number) => {
    const cluster = new SimulatedCluster({ nodes: nodes.slice(0, 3), pods, grace: 5000, window });
    for (let turn = 0; turn < 60; turn += 1) cluster.turn(TURN);
    return cluster.evictedAt.map(({ pod }) => pod);
  };
  const now = evicted(TURN);
  expect(now).toHaveLength(3);
  expect(evicted(5 * MINUTE)).toEqual(now);
});

test("pods that land on any of many equal nodes were foreseen, also where a wave moves several at once", () => {
  const full = Array.from({ length: 20 }, (_, index) => ({ name: `full-${index}` }));
  const empty = Array.from({ length: 40 }, (_, index) => ({ name: `empty-${String(index).padStart(2, "0")}` }));
  const pods = full.flatMap(({ name }) =>
    Array.from({ length: 10 }, (_, pod) => ({ owner: `${name}-${pod}`, node: name, load: 0.09 })),
  );
  const cluster = new SimulatedCluster({
    ...{ nodes: [...full, ...empty], pods, scheduling: "AnyLeastAllocated" },
    policy: { targetSigma: 0.05, maxEvictionsPerMinute: 1000 },
  });
  for (let turn = 0; turn < 12; turn += 1) cluster.turn(TURN);
  expect(cluster.evictedAt.length).toBeGreaterThan(100);
  expect(cluster.record.foreseen.filter(Boolean).length).toBeGreaterThanOrEqual(45);
});

describe("usage that", () => {
  const turns = (rest: (turn: number) => number | null) => {
    // The node requests much, so that the scheduler would not place a pod on it.
    const pods = [...hotSpot, { owner: "full", node: "d", load: 0.6 }];
    const cluster = new SimulatedCluster({ nodes, pods, policy });
    for (let turn = 0; turn < 12; turn += 1) {
      cluster.nodes = nodes.map(({ name }) => ({ name, rest: name === "d" ? rest(turn) : 0 }));
      cluster.turn(TURN);
    }
    return { cluster, known: plan(cluster.snapshot(null)).nodes };
  };

  test("is missing for one node freezes that node, and the plan goes on with the others", () => {
    const { cluster, known } = turns(() => null);
    expect(cluster.evictedAt.length).toBeGreaterThan(0);
    expect(known.frozen).toEqual([{ node: "d", reason: "NoUsage" }]);
  });

  test("is not a number freezes its node too", () => {
    expect(turns(() => NaN).known.frozen.map(({ node }) => node)).toEqual(["d"]);
  });

  test("comes and goes changes nothing about what is evicted", () => {
    const { cluster } = turns((turn) => (turn % 2 === 0 ? null : 0));
    expect(cluster.evictedAt).toHaveLength(turns(() => 0).cluster.evictedAt.length);
  });
});

/** A pseudo-random sequence from 0 to 1: the same day each time. */
function* sequence(seed: number): Generator<number> {
  for (let state = seed; ; state = (state * 1_103_515_245 + 12_345) % 2 ** 31) yield state / 2 ** 31;
}

test("on lognormal sizes the service needs at most 1.1 times the evictions of a script without its limits", () => {
  const [target, wave] = [0.08, 25];
  const random = sequence(7);
  const draw = () => random.next().value as number;
  const full = Array.from({ length: 20 }, (_, index) => ({ name: `full-${index}` }));
  const empty = Array.from({ length: 20 }, (_, index) => ({ name: `empty-${index}` }));
  const sizes = Array.from({ length: 24 }, () => {
    return Math.exp(Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw()));
  });
  const scale = (0.71 * full.length) / (25 * sizes.reduce((sum, size) => sum + size, 0));
  // The scheduler placed each pod on the node with the lowest load, before the other half of the nodes came.
  const sums = full.map(() => 0);
  const pods = sizes
    .flatMap((size, owner) =>
      Array.from({ length: 25 }, () => ({ owner: `set-${owner}`, load: size * scale, order: draw() })),
    )
    .sort((one, other) => one.order - other.order)
    .map(({ owner, load }) => {
      const least = sums.indexOf(Math.min(...sums));
      sums[least] = (sums[least] ?? 0) + load;
      return { owner, load, node: full[least]?.name ?? "" };
    });
  const policy = { basis: "requests", targetSigma: target, maxEvictionsPerMinute: 1000 } as const;
  const world = () => new SimulatedCluster({ nodes: [...full, ...empty], pods, policy });

  const script = world();
  for (;;) {
    const { moves } = plan({ ...script.snapshot(null), budget: wave });
    if (moves.length === 0) break;
    script.evict(moves.map(({ pod }) => pod.name));
    script.now += TURN;
  }
  const service = world();
  for (let turn = 0, before = -1; before < service.evictedAt.length || turn < 5; turn += 1) {
    before = service.evictedAt.length;
    service.turn(TURN);
  }
  const sigmaOf = (cluster: SimulatedCluster) => plan({ ...cluster.snapshot(null), budget: 0 }).sigma?.before;
  expect(sigmaOf(script)).toBeLessThanOrEqual(target);
  expect(sigmaOf(service)).toBeLessThanOrEqual(target);
  expect(script.evictedAt.length).toBeGreaterThan(50);
  expect(service.evictedAt.length).toBeLessThanOrEqual(1.1 * script.evictedAt.length);
});

test("over a day of rollouts and of nodes that come and go, nodes are more level, within every budget", () => {
  const day = (acts: boolean) => {
    const random = sequence(7);
    const draw = () => random.next().value as number;
    const pods = Array.from({ length: 40 }, (_, index) => ({
      owner: `web-${index}`,
      node: nodes[index % 2]?.name ?? "",
      load: 0.02 + (index % 7) * 0.01,
    }));
    const limits = { targetSigma: 0.02, maxEvictionsPerMinute: 2 };
    const cluster = new SimulatedCluster({ nodes, pods, policy: limits, grace: 30_000 });
    const sigmas: number[] = [];
    for (let turn = 0; turn < 96; turn += 1) {
      if (turn % 8 === 4) {
        // A rollout: every pod of some workload is replaced.
        const owner = `web-${Math.floor(draw() * 40)}`;
        const [old] = cluster.pods.filter((pod) => pod.owner === owner);
        cluster.pods = cluster.pods.filter((pod) => pod.owner !== owner);
        if (old) cluster.add(owner, old.load);
      }
      if (turn % 24 === 12) {
        // A node goes with its pods, and comes back empty.
        const gone = nodes[Math.floor(draw() * nodes.length)]?.name ?? "";
        const lost = cluster.pods.filter(({ node }) => node === gone);
        cluster.pods = cluster.pods.filter(({ node }) => node !== gone);
        cluster.nodes = nodes.filter(({ name }) => name !== gone);
        for (const { owner, load } of lost) cluster.add(owner, load);
        cluster.nodes = nodes;
      }
      sigmas.push(cluster.turn(15 * MINUTE, acts));
    }
    const mean = sigmas.reduce((sum, sigma) => sum + sigma, 0) / sigmas.length;
    return { mean, evictedAt: cluster.evictedAt };
  };
  const [resting, acting] = [day(false), day(true)];
  expect(acting.mean).toBeLessThanOrEqual(0.9 * resting.mean);
  for (const { at } of acting.evictedAt)
    expect(acting.evictedAt.filter((each) => each.at >= at && each.at < at + MINUTE).length).toBeLessThanOrEqual(2);
});
