import type { Plan } from "../decide/answer.ts";
import type { PlanSnapshot } from "../decide/snapshot.ts";
import { utilisationOf, type Utilisation } from "../decide/utilisation.ts";

/** How full a node is, as parts of its capacity. Null while its load is unknown. */
export interface NodeLevel {
  readonly name: string;
  readonly cpu: number | null;
  readonly memory: number | null;
  /** Both by the weights of the policy. */
  readonly now: number | null;
  /** The same after the plan, as its landings are expected. */
  readonly predicted: number | null;
}

/** The level of each node, by the basis and the weights of the policy. */
export function nodeLevels({ cluster, memory, policy: { spec } }: PlanSnapshot, { moves }: Plan): readonly NodeLevel[] {
  const { cpu = 0, memory: memoryWeight = 0 } = spec.resourceWeights;
  const levelsBy = (weights: { readonly cpu: number; readonly memory: number }) =>
    utilisationOf(cluster, spec.basis, weights, memory);
  const weighted = levelsBy({ cpu, memory: memoryWeight });
  const [byCpu, byMemory] = [levelsBy({ cpu: 1, memory: 0 }), levelsBy({ cpu: 0, memory: 1 })];
  const shifts = expectedShifts(cluster, weighted, moves);
  return cluster.nodes.map(({ name }, node) => {
    const now = levelOf(weighted, node);
    const predicted = now === null ? null : now + (shifts.get(node) ?? 0);
    return { name, cpu: levelOf(byCpu, node), memory: levelOf(byMemory, node), now, predicted };
  });
}

function levelOf({ slotOf, levels }: Utilisation, node: number): number | null {
  return levels[slotOf[node] as number] ?? null;
}

/** By node, how much the moves add to its level or take from it. */
function expectedShifts(
  { nodes, pods }: PlanSnapshot["cluster"],
  utilisation: Utilisation,
  moves: Plan["moves"],
): ReadonlyMap<number, number> {
  const moveOf = new Map(moves.map((move) => [move.pod.uid, move]));
  const nodeOf = new Map(nodes.map(({ name }, node) => [name, node]));
  const shifts = new Map<number, number>();
  const shift = (name: string, sizeOf: (node: number) => number) => {
    const node = nodeOf.get(name);
    if (node !== undefined) shifts.set(node, (shifts.get(node) ?? 0) + sizeOf(node));
  };
  for (let pod = 0; pod < pods.uid.length && moveOf.size > 0; pod += 1) {
    const move = moveOf.get(pods.uid[pod] ?? "");
    if (move === undefined) continue;
    shift(move.from, (node) => -utilisation.sizeOn(pod, node));
    for (const { node: name, probability } of move.landings)
      shift(name, (node) => probability * utilisation.sizeOn(pod, node));
  }
  return shifts;
}
