import { expect, test } from "@jest/globals";
import { NO_MEMORY, NOW, type PodSpec, snapshotOf, type World } from "../testing/sample-snapshot.ts";
import { plan } from "./plan.ts";

const TURNS = 12;

/** Plans again and again, each time with what the last plan left behind and with its moves carried out. */
function movesOfTurns(world: World): number[] {
  let pods: readonly PodSpec[] = world.pods.map((pod, index) => ({ name: `pod-${index}`, ...pod }));
  let levels: ReturnType<typeof plan>["levels"] = {};
  return Array.from({ length: TURNS }, (_, turn) => {
    const memory = { ...NO_MEMORY, levels };
    const made = plan(snapshotOf({ ...world, pods }, {}, { memory, at: NOW + turn * 60_000 }));
    levels = made.levels;
    const landed = new Map(made.moves.map(({ pod, countedOn }) => [pod.name, countedOn]));
    pods = pods.map((pod) => {
      const to = landed.get(pod.name ?? "");
      return to === undefined ? pod : { ...pod, name: `${pod.name}-${turn}`, node: to };
    });
    return made.moves.length;
  });
}

const nodes = ["a", "b", "c", "d"].map((name) => ({ name }));

test.each<[string, World]>([
  [
    "one giant pod makes any node hot",
    { nodes, pods: [{ node: "a", load: 0.9 }, ...["b", "c", "d"].map((node) => ({ node, load: 0.2 }))] },
  ],
  [
    "only one node is feasible",
    {
      nodes,
      pods: [0.3, 0.3, 0.3].map((load) => ({
        node: "a",
        load,
        shape: { nodeSelector: { "kubernetes.io/hostname": "a" } },
      })),
    },
  ],
  [
    "the scheduler prefers the hot node, because its pods request little",
    {
      nodes,
      pods: [
        ...[0.3, 0.3, 0.3].map((load) => ({ node: "a", load, requested: 0.01 })),
        ...["b", "c", "d"].map((node) => ({ node, load: 0.1, requested: 0.8 })),
      ],
    },
  ],
  [
    "all nodes are equally hot",
    {
      nodes,
      pods: nodes.flatMap(({ name }) => [
        { node: name, load: 0.5 },
        { node: name, load: 0.4 },
      ]),
    },
  ],
  ["all nodes are level", { nodes, pods: nodes.map(({ name }) => ({ node: name, load: 0.4 })) }],
])("twelve turns evict nothing where %s", (_sentence, world) => {
  expect(movesOfTurns(world)).toEqual(new Array<number>(TURNS).fill(0));
});

test("a cluster that can be levelled is left alone after that", () => {
  const pods = [0.4, 0.3, 0.2].map((load) => ({ node: "a", load }));
  expect(movesOfTurns({ nodes, pods })).toEqual([0, 1, ...new Array<number>(TURNS - 2).fill(0)]);
});
