/** Environment variable with the id of the cluster that the test files of a suite share. */
export const CLUSTER_VARIABLE = "EVENKEEL_REAL_NODE_CLUSTER";
