import type { ClusterReading, NodeReading, PeerScore } from "./snapshot.ts";
import type { Room, ScoreSource } from "./standing.ts";

/** A cluster's score and what it is made of. */
export interface Score {
  readonly source: ScoreSource;
  readonly score: number;
  readonly cost: number;
  readonly nodes: readonly { readonly name: string; readonly score: number }[];
  readonly failedNodes: number | null;
  readonly free: Room | null;
  readonly whole: Room | null;
  readonly marginalWatts: number | null;
}

/** How many nodes the marginal watts are the mean of: the next replicas land on more than one. */
const CHEAPEST = 3;

/**
 * The score of the own cluster; null if no node could be scored, because unknown is never 0.
 *
 * By watts it is the original's: the sum over all nodes of the predicted watts, each cut to a whole number, where nodes
 * without a prediction are left out. By capacity it is the per mille of CPU that is requested on nodes that take pods,
 * plus the cost. The original reads 0 as "no score", so the least score is 1.
 */
export function clusterScore({ source, nodes }: ClusterReading, cost: number): Score | null {
  const open = nodes.filter(({ schedulable }) => schedulable);
  const free = sum(open.map((node) => node.free));
  const whole = sum(open.map((node) => node.whole));
  const about = { source, cost, free, whole, marginalWatts: marginalWatts(nodes) };
  if (source === "capacity") {
    const score = capacityScore(free, whole, cost);
    if (score === null) return null;
    const scored = open.flatMap(({ name, free, whole }) => {
      const used = perMille(free, whole);
      return used === null ? [] : [{ name, score: used }];
    });
    return { ...about, score, nodes: scored, failedNodes: 0 };
  }
  const scored = nodes.flatMap(({ name, watts }) => (watts === null ? [] : [{ name, score: Math.trunc(watts) }]));
  const watts = scored.reduce((total, { score }) => total + score, 0);
  if (scored.length === 0) return null;
  return { ...about, score: Math.max(1, watts), nodes: scored, failedNodes: nodes.length - scored.length };
}

/** What a peer's score counts here, with the cost that the annotation on its ClusterScore here says, if it does. */
export function peerScore(peer: PeerScore, cost: number | null): Score {
  if (cost === null || peer.source === "watts") return { ...peer, cost: cost ?? peer.cost };
  return { ...peer, cost, score: Math.max(1, peer.score - peer.cost + cost) };
}

/** The score by capacity; null while the room is unknown, or where no node takes pods. */
export function capacityScore(free: Room | null, whole: Room | null, cost: number): number | null {
  const used = free && whole ? perMille(free, whole) : null;
  return used === null ? null : Math.max(1, used + cost);
}

function perMille(free: Room, whole: Room): number | null {
  return whole.cpu > 0 ? Math.round((1000 * (whole.cpu - free.cpu)) / whole.cpu) : null;
}

function marginalWatts(nodes: readonly NodeReading[]): number | null {
  const cheapest = nodes
    .flatMap(({ schedulable, marginalWatts: watts }) => (schedulable && watts !== null ? [watts] : []))
    .sort((a, b) => a - b)
    .slice(0, CHEAPEST);
  return cheapest.length === 0 ? null : cheapest.reduce((total, watts) => total + watts, 0) / cheapest.length;
}

function sum(rooms: readonly Room[]): Room {
  return rooms.reduce(
    (total, { cpu, memory, pods }) => ({
      cpu: total.cpu + cpu,
      memory: total.memory + memory,
      pods: total.pods + pods,
    }),
    { cpu: 0, memory: 0, pods: 0 },
  );
}
