import type { StoredClusterScore } from "../cluster-score-resource.ts";
import type { VersionLayout, VersionLayouts } from "../reads/version-vector.ts";
import { ownClusterScore } from "./own-member.ts";

/** Annotation of the own ClusterScore: which member has which place in the versions of merged objects. JSON. */
export const VERSION_LAYOUT = "evenkeel.io/version-layout";

const DAY = 86_400_000;
/** An epoch has four digits. */
const EPOCHS = 10_000;

/** The layout of versions, as the own ClusterScore has it. */
export class StoredLayouts implements VersionLayouts {
  readonly #objects: () => Iterable<StoredClusterScore>;

  constructor(objects: () => Iterable<StoredClusterScore>) {
    this.#objects = objects;
  }

  layout(): VersionLayout | undefined {
    const own = ownClusterScore(this.#objects());
    return own && layoutOf(own.metadata.annotations?.[VERSION_LAYOUT]);
  }
}

/** Undefined if the text is not a layout. */
export function layoutOf(text: string | undefined): VersionLayout | undefined {
  if (text === undefined) return undefined;
  try {
    const { epoch, slots } = JSON.parse(text) as { readonly epoch?: unknown; readonly slots?: unknown };
    const isLayout = Array.isArray(slots) && slots.every((slot) => typeof slot === "string");
    return isLayout && typeof epoch === "number" ? { epoch, slots } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The layout with a place for each of these members; the same one if each has its place. Places are only added. The
 * epoch of a new layout is the day, so that one that replaces a lost one sorts above its past. `now` is in
 * milliseconds.
 */
export function layoutWith(layout: VersionLayout | undefined, names: readonly string[], now: number): VersionLayout {
  const { epoch, slots } = layout ?? { epoch: Math.floor(now / DAY) % EPOCHS, slots: [] };
  const missing = names.filter((name) => !slots.includes(name));
  return layout !== undefined && missing.length === 0 ? layout : { epoch, slots: [...slots, ...missing] };
}
