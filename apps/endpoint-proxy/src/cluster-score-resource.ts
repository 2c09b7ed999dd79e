import { CLUSTER_SCORE, type ClusterScoreStatus } from "@evenkeel/api";
import type { StoredObject } from "@evenkeel/kube";
import { resourceTypeOf } from "@evenkeel/operator";

/** A ClusterScore as the API server stores it. */
export type StoredClusterScore = StoredObject<ClusterScoreStatus>;

export const clusterScores = resourceTypeOf<StoredClusterScore>(CLUSTER_SCORE);

/** Annotation of a ClusterScore: a whole number that is added to a score by capacity. */
export const COST = "evenkeel.io/cost";

/** Annotation of a peer's ClusterScore: "true" if the original runs there, which knows basic authentication alone. */
export const ORIGINAL = "evenkeel.io/original";
