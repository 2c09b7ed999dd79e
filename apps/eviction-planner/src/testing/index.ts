export { FIXTURE_TIME, fixtureCluster } from "./fixture-cluster.ts";
