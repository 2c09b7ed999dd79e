export { clusterScores, COST, type StoredClusterScore } from "./cluster-score-resource.ts";
export { endpointProxy } from "./definition.ts";
