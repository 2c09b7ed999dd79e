import { DuplicateName } from "./errors.ts";
import { badNumber, checkCount } from "./checks.ts";
import { finish, type Hash, hashText } from "./hash.ts";

const { log } = Math;

export interface RendezvousNode {
  readonly name: string;
  /** Its proportion of the keys: 0, or from 1e-200 to 1e200; 1 if absent. A node of weight 0 owns nothing. */
  readonly weight?: number;
}

/** Which node owns which key. The same nodes and seed give the same answers in every process. */
export interface Rendezvous {
  /** The node with the highest score for the key; undefined if no node has weight. */
  readonly owner: (key: string) => string | undefined;
  /** The first `count` nodes by score, the owner first. If the owner goes, the second inherits the key. */
  readonly ranked: (key: string, count: number) => string[];
}

/**
 * Weighted rendezvous hashing. A node's score for a key depends on the key, the node's name and its own weight alone,
 * therefore: a node that goes moves only its own keys; a node that comes takes keys but moves none between others; so
 * does a weight that rises or falls. Each node owns keys in proportion to its weight, give or take the chance of a fair
 * draw. The order of `nodes` does not matter. A lookup costs one hash of the key and a few operations for each node.
 *
 * The score is `-weight / ln(u)`, where `u` is uniform between 0 and 1 by the hashes of key and name (Schindelhauer and
 * Schomaker, "Weighted Distributed Hash Tables", 2005). Equal scores go to the name that sorts first.
 */
export function rendezvous(nodes: readonly RendezvousNode[], seed = 0): Rendezvous {
  checkCount(seed, "the seed");
  const names = new Set<string>();
  const contenders: Contender[] = [];
  for (const { name, weight = 1 } of nodes) {
    if (names.has(name)) throw new DuplicateName({ what: `node ${JSON.stringify(name)}` });
    names.add(name);
    if (weight !== 0 && !(weight >= 1e-200 && weight <= 1e200)) {
      throw badNumber(weight, "the weight of node", "0 or a number from 1e-200 to 1e200", name);
    }
    if (weight > 0) contenders.push({ name, weight, hash: hashText(name, seed ^ NAMES) });
  }
  contenders.sort((a, b) => (a.name < b.name ? -1 : 1));

  return {
    owner: (key) => {
      const hash = hashText(key, seed);
      let owner: string | undefined;
      let lowest = Infinity;
      for (const contender of contenders) {
        const cost = costOf(contender, hash);
        if (cost >= lowest) continue;
        owner = contender.name;
        lowest = cost;
      }
      return owner;
    },
    ranked: (key, count) => {
      checkCount(count, "the count");
      const hash = hashText(key, seed);
      return contenders
        .map((contender) => ({ name: contender.name, cost: costOf(contender, hash) }))
        .sort((a, b) => a.cost - b.cost)
        .slice(0, count)
        .map(({ name }) => name);
    },
  };
}

/** Sets the hashes of names apart from those of keys: a key that equals a name would else always score 0 there. */
const NAMES = 0x9e3779b9;

interface Contender {
  readonly name: string;
  readonly weight: number;
  readonly hash: Hash;
}

/** One over the score: the lowest cost owns the key. */
function costOf({ weight, hash }: Contender, key: Hash): number {
  const crossed = (key.high ^ hash.high) + (key.low ^ hash.low);
  const high = finish(crossed);
  const low = finish(crossed + (key.low ^ hash.low));
  return -log(uniform((high + low) >>> 0, low)) / weight;
}

/** 52 bits as a number strictly between 0 and 1, exactly. */
function uniform(high: number, low: number): number {
  return (high * 2 ** 20 + (low >>> 12) + 0.5) / 2 ** 52;
}
