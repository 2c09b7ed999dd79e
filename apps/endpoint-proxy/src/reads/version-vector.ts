/**
 * Which member has which place in the versions of merged objects. Places are never dropped or reordered: a version that
 * lost one would sort below its past. A new member is appended. `epoch` grows if a layout must be given up.
 */
export interface VersionLayout {
  readonly epoch: number;
  readonly slots: readonly string[];
}

/** Where the layout is kept; on the own ClusterScore, so that every replica knows it after a restart. */
export interface VersionLayouts {
  /** Undefined until the own ClusterScore exists. Merged objects then have the own cluster's version. */
  layout(): VersionLayout | undefined;
}

/** Versions of the members that hold an object. */
export type Versions = ReadonlyMap<string, string>;

const EPOCH_DIGITS = 4;
const SLOT_DIGITS = 20;

/**
 * The members' versions as one decimal number: `1`, the epoch, then 20 digits for each slot. It grows when any of them
 * grows, so clients that compare versions (KEP-5504) can. A member that does not hold the object has 0.
 */
export function encodeVersions({ epoch, slots }: VersionLayout, versions: Versions): string {
  const parts = slots.map((name) => slotOf(versions.get(name)));
  return `1${String(epoch).padStart(EPOCH_DIGITS, "0")}${parts.join("")}`;
}

/** What is no version of an API server would move the slots behind it: it counts as 0. */
function slotOf(version = "0"): string {
  return (/^\d{1,20}$/.test(version) ? version : "0").padStart(SLOT_DIGITS, "0");
}

/** What a version in a request means. */
export type GivenVersion =
  /** A version of the own cluster, such as from a list. */
  | { readonly kind: "own"; readonly version: string }
  | { readonly kind: "vector"; readonly versions: Versions }
  /** Of another layout: it is out of date. */
  | { readonly kind: "stale" };

export function decodeVersions(text: string, layout: VersionLayout | undefined): GivenVersion {
  if (text.length <= SLOT_DIGITS) return { kind: "own", version: text };
  const head = 1 + EPOCH_DIGITS;
  const slots = (text.length - head) / SLOT_DIGITS;
  const isOfLayout = layout !== undefined && /^1\d+$/.test(text) && Number.isInteger(slots);
  if (!isOfLayout || Number(text.slice(1, head)) !== layout.epoch || slots > layout.slots.length) {
    return { kind: "stale" };
  }
  const versions = layout.slots.slice(0, slots).map((name, index) => {
    const digits = text.slice(head + index * SLOT_DIGITS, head + (index + 1) * SLOT_DIGITS);
    return [name, digits.replace(/^0+/, "")] as const;
  });
  return {
    kind: "vector",
    versions: new Map(versions.filter(([, version]) => version !== "")),
  };
}
