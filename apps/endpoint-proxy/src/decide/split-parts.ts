import type { Placement } from "@evenkeel/scoring";
import type { SplitMember, SplitSnapshot } from "./split-snapshot.ts";
import { marginalWatts, roomFor, type Weights } from "./split-weights.ts";

/** Why a cluster has its part. */
export type PartReason =
  | "Weighted"
  /** It has no room for more. */
  | "Room"
  /** More than there is room for, because it fits nowhere. */
  | "Unplaced"
  | "Kept"
  | "Unreachable"
  | "Unscored"
  | "Duplicate"
  | "Paused"
  /** `evenkeel.io/clusters` leaves it out. */
  | "Excluded";

/** What a cluster gets. */
export interface Part {
  readonly cluster: string;
  readonly replicas: number;
  readonly reason: PartReason;
  /** The figure behind it, such as `38 W` or `room for 2`; may be empty. */
  readonly note: string;
}

export function partsOf(snapshot: SplitSnapshot, after: Placement, weights: Weights | undefined): readonly Part[] {
  return snapshot.members.map((member): Part => {
    const replicas = after[member.name] ?? 0;
    return { cluster: member.name, replicas, ...reasonOf(snapshot, member, replicas, weights) };
  });
}

function reasonOf(
  snapshot: SplitSnapshot,
  member: SplitMember,
  replicas: number,
  weights: Weights | undefined,
): Pick<Part, "reason" | "note"> {
  const { include, exclude, divide } = snapshot.policy;
  const { name, standing, held } = member;
  if (standing !== "Ready") return { reason: standing, note: STANDING[standing] };
  if (exclude.includes(name) || include?.includes(name) === false) return { reason: "Excluded", note: "excluded" };
  if (divide === "all") return { reason: "Weighted", note: "the whole" };
  if (weights === undefined) return { reason: "Kept", note: "" };
  const room = roomFor(snapshot, member);
  const added = replicas - held;
  if (added > 0 && added > room) return { reason: "Unplaced", note: `room for ${room}` };
  if (added >= 0 && added === room && room <= snapshot.total) return { reason: "Room", note: `room for ${room}` };
  return { reason: "Weighted", note: figureOf(member, weights) };
}

const STANDING = {
  Unreachable: "unreachable",
  Unscored: "no score",
  Duplicate: "duplicate",
  Paused: "paused",
} as const;

function figureOf(member: SplitMember, { basis, of }: Weights): string {
  switch (basis) {
    case "MarginalWatts":
      return `${Number((marginalWatts(member) ?? 0).toPrecision(3))} W`;
    case "Score":
      return `score ${member.score?.score ?? 0}`;
    case "FreeRoom":
      return `${member.score?.free?.cpu ?? 0}m CPU free`;
    case "Weights":
      return `weight ${of.get(member.name) ?? 0}`;
    case "Even":
      return "even";
  }
}

/** `web: 10 replicas: region-a 4 (38 W), region-b 4 (41 W), region-c 2 (room for 2)` */
export function sentenceOf({ name, total, members }: SplitSnapshot, reason: string, parts: readonly Part[]): string {
  const listed = parts.filter(({ replicas, reason: why }) => replicas > 0 || (why !== "Weighted" && why !== "Kept"));
  const shown = (listed.length === 0 ? parts : listed).map(
    ({ cluster, replicas, note }) => `${cluster} ${replicas}${note === "" ? "" : ` (${note})`}`,
  );
  const count = `${total} ${total === 1 ? "replica" : "replicas"}${reason === "Whole" ? " each" : ""}`;
  const room = parts.filter((part) => part.reason === "Unplaced");
  const remark: Readonly<Record<string, string>> = {
    Unplaced: `; there is not room for all, pods will be pending in ${room.map(({ cluster }) => cluster).join(", ")}`,
    OwnAlone: members.length > 1 ? "; no cluster has a score, so all are in one" : "",
    HeldElsewhere: "; clusters that cannot be reached hold more than that",
  };
  return `${name}: ${count}: ${shown.join(", ")}${remark[reason] ?? ""}`;
}
