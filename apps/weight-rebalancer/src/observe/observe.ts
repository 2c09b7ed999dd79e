import type { WorldSnapshot } from "../decide/decide.ts";

/** Turns the outside world into plain data. */
export function observe(now: number): WorldSnapshot {
  return { at: new Date(now).toISOString(), load: null };
}
