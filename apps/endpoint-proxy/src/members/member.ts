import type { MemberScore, Room, ScoreSource, Standing } from "../decide/standing.ts";

export type { MemberScore, Room, ScoreSource, Standing };

/** A cluster: the own one, or a peer. */
export interface Member {
  /** The name of its ClusterScore, in `/clusters/<name>/…` too. */
  readonly name: string;
  readonly own: boolean;
  /** URL of a peer's PORT2; of the own member, what its ClusterScore says, which is not used to reach it. */
  readonly endpoint: string;
  /** Whether the original runs there (annotation `evenkeel.io/original`). */
  readonly original: boolean;
  /**
   * The value of the label on copies in this cluster: LABEL_VALUE_MY_DOMAIN for the own, the region for a peer, or its
   * name while the region is not known.
   */
  readonly label: string;
  readonly standing: Standing;
  readonly score: MemberScore | undefined;
}

/** The members, as the own cluster's ClusterScores list them; on every replica. */
export interface Members {
  /** Undefined until the own ClusterScore exists. */
  own(): Member | undefined;
  /** By name; the own member too. */
  get(name: string): Member | undefined;
  /** The own member first, then the peers by name, without duplicates. */
  all(): readonly Member[];
}
