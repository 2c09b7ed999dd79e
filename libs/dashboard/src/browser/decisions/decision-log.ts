import type { Decision } from "./decision.ts";

/** How many decisions a page keeps; a service's ring holds as many. */
const CAPACITY = 1000;

/**
 * The decisions `known` and the `news`, the newest first, each once: a reopened stream repeats the last ones. Neither
 * list is changed.
 */
export function mergeDecisions(known: readonly Decision[], news: readonly Decision[]): readonly Decision[] {
  const ids = new Set(known.map(({ id }) => id));
  const fresh = news.filter(({ id }) => !ids.has(id) && ids.add(id));
  if (fresh.length === 0) return known;
  const all = [...fresh.toReversed(), ...known];
  return all.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at)).slice(0, CAPACITY);
}
