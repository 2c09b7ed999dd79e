export { FIXTURE_TIME, fixtureCluster } from "./fixture-cluster.ts";

/** The address of a program that answers plans in a thread, and loads nothing else. */
export const PLAN_WORKER = new URL("./plan-worker.ts", import.meta.url).href;
