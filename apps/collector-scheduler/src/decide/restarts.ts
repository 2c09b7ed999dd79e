import { JOIN_AFTER } from "./membership.ts";
import { poolOf } from "./owners.ts";
import type { Collector, FleetSnapshot } from "./snapshot.ts";

type Given = Pick<FleetSnapshot, "at" | "collectors" | "restart"> & {
  readonly settings: Pick<FleetSnapshot["settings"], "pool" | "fallback">;
  readonly scale: Pick<FleetSnapshot["scale"], "present">;
};

/** A collector that is to be restarted for a new image or configuration. */
export interface Restart {
  readonly name: string;
  readonly ordinal: number;
  /** Its targets can be handed over first. */
  readonly drains: boolean;
  /** A collector that was restarted before it is not back yet. */
  readonly waits: boolean;
}

/**
 * The next collector to be restarted: the highest ordinal that is outdated, when those above it are back for as long as
 * a new collector needs to join. So its targets go to the one that came back empty. One that is away has nothing to
 * hand over in order, and one without another collector of its pool has nobody to hand over to. Null if none is
 * outdated.
 */
export function nextRestart({ at, collectors, restart, settings, scale }: Given): Restart | null {
  const outdated = new Set(restart.policy === "handOver" ? restart.outdated : []);
  const next = collectors.findLast(({ name }) => outdated.has(name));
  if (next === undefined) return null;
  const now = Date.parse(at);
  const isBack = ({ awaySince, readySince = -Infinity }: Collector) =>
    awaySince === null && now - readySince >= JOIN_AFTER;
  const wanted = collectors.filter(({ ordinal }) => ordinal < scale.present);
  const waits = wanted.some((each) => each.ordinal > next.ordinal && !isBack(each));
  const mayTake = (each: Collector) =>
    settings.fallback === "any" || poolOf(each, settings.pool) === poolOf(next, settings.pool);
  const hasHeir = wanted.some((each) => each !== next && each.awaySince === null && mayTake(each));
  return { name: next.name, ordinal: next.ordinal, drains: next.awaySince === null && hasHeir, waits };
}

/** Collectors that are to hand their targets over before a restart. */
export function drainedForRestart(given: Given): readonly string[] {
  const next = nextRestart(given);
  return next === null || next.waits || !next.drains ? [] : [next.name];
}

/**
 * The partition of the StatefulSet: pods below it are not restarted. Without an outdated pod it is above all, so that a
 * new template restarts none before its targets are handed over. Null: the StatefulSet restarts them by itself.
 */
export function restartPartition(given: Given, isMember: (name: string) => boolean): number | null {
  const { restart, scale } = given;
  if (restart.policy === "wait") return null;
  if (restart.outdated === null) return restart.partition ?? scale.present;
  const next = nextRestart(given);
  if (next === null) return scale.present;
  const mayRestart = !next.waits && (!next.drains || !isMember(next.name));
  return mayRestart ? next.ordinal : next.ordinal + 1;
}
