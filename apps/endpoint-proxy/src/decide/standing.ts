/** Why a member gets nothing new, or takes no part at all. */
export type Standing =
  /** Replicas may be placed there. */
  | "Ready"
  /** It does not respond. It keeps what it holds. */
  | "Unreachable"
  /** It has no score yet, or its score is too old. */
  | "Unscored"
  /** It is the own cluster once more, somebody's PORT1, or a cluster that is listed twice. It takes no part. */
  | "Duplicate"
  /** An administrator paused it (`evenkeel.io/paused`). */
  | "Paused";

/** What a cluster has left: allocatable less requests. CPU in millicores, memory in bytes. */
export interface Room {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

export type ScoreSource = "watts" | "capacity";

/** What the split knows of a member. `undefined` is unknown, never zero. */
export interface MemberScore {
  /** `watts`: the original's predicted power. `capacity`: per mille of CPU requested, plus the member's cost. */
  readonly source: ScoreSource;
  readonly score: number;
  /** Undefined for an original, which does not say. */
  readonly free: Room | undefined;
  readonly whole: Room | undefined;
  /** Watts of one more CPU on the cheapest nodes with room. */
  readonly marginalWatts: number | undefined;
  /** Milliseconds since it was taken, by the reader's clock. */
  readonly age: number;
}

/** What the stored ClusterScore of a member says, as far as its standing depends on it. */
export interface StoredStanding {
  readonly paused: boolean;
  readonly isDuplicate: boolean;
  /** Undefined where nobody has asked yet, or the original writes the status. */
  readonly reachable: boolean | undefined;
  readonly scored: boolean | undefined;
  readonly hasScore: boolean;
  /** Milliseconds by the reader's clock; undefined if it is unknown. */
  readonly age: number | undefined;
}

/** The standing of a member for a reader that takes scores up to `limit` milliseconds old. */
export function standingOf(stored: StoredStanding, limit: number): Standing {
  const { paused, isDuplicate, reachable, scored, hasScore, age } = stored;
  if (isDuplicate) return "Duplicate";
  if (reachable === false) return "Unreachable";
  if (paused) return "Paused";
  const isFresh = age !== undefined && age <= limit;
  return hasScore && isFresh && scored !== false ? "Ready" : "Unscored";
}
