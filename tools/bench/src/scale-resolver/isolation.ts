import { setTimeout as sleep } from "node:timers/promises";
import type { Clients, Reply } from "./clients.ts";
import type { Holder } from "./holder.ts";
import { percentile } from "./percentile.ts";
import type { Remote } from "./remote.ts";
import type { Rig } from "./rig.ts";

const FLOOD = { perSecond: 2000, seconds: 10 };
/** Requests of the neighbour that wait for each of its wakes. */
const NEIGHBOUR = 500;

export interface Isolation {
  /** p99 of the neighbour's hand-offs while the other is flooded, in milliseconds, one a wake. */
  readonly flooded: readonly number[];
  /** Milliseconds from the head of each request that found no room to the first byte of its answer. */
  readonly overflow: readonly number[];
  /** Requests that found no room and were not answered 503 with Retry-After. */
  readonly ill: number;
}

/** p99 of some hand-offs of a service, one after the other. */
export async function wakes(rig: Rig, neighbour: Holder, count: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let wake = 0; wake < count; wake++)
    found.push(percentile((await rig.handOff(neighbour, NEIGHBOUR)).times, 0.99));
  return found;
}

/**
 * Floods one service without pods with more than it may hold, while another service wakes as often as the time allows.
 * `flooders` is a process of its own: the neighbour's clients must not be busy with the flood.
 */
export async function flooded(
  rig: Rig,
  flooders: Remote<Clients>,
  { victim, neighbour, cap }: { victim: Holder; neighbour: Holder; cap: number },
): Promise<Isolation> {
  const name = rig.newBurst();
  const ended = flooders.ask("flood", { name, port: victim.port, ...FLOOD }).then(() => "over" as const);
  // Until it is full.
  await sleep(1000);
  const found: number[] = [];
  for (;;) {
    const [p99 = NaN] = await wakes(rig, neighbour, 1);
    // A wake that ended after the flood does not count.
    if ((await Promise.race([ended, Promise.resolve("goes on")])) === "over") break;
    found.push(p99);
  }
  const pending = await victim.pending();
  const replies: readonly Reply[] = await flooders.ask("finish", { name, patience: 500 });
  const total = FLOOD.perSecond * FLOOD.seconds;
  const refused = replies.filter(({ status, retryAfter }) => status === 503 && retryAfter);
  return {
    flooded: found,
    overflow: refused.map(({ sent, first }) => first - sent),
    // Whoever is neither refused nor held.
    ill: total - refused.length - Math.min(pending, cap),
  };
}
