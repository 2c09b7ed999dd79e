import type { PlanSnapshot } from "../decide/snapshot.ts";
import { CollectedObjects } from "../observe/cluster/collected-objects.ts";
import { defaultPolicy } from "../observe/default-policy.ts";
import { snapshotOf } from "../observe/snapshot/snapshot-of.ts";
import { FIXTURE_TIME, fixtureCluster } from "./fixture-cluster.ts";

/** The snapshot of the fixture, under the default policy. */
export function fixtureSnapshot(): Promise<PlanSnapshot> {
  const collected = new CollectedObjects();
  const { objects, metrics } = fixtureCluster();
  for (const object of [...objects, ...metrics]) collected.add(object);
  const rest = { policy: defaultPolicy(), budget: 10, memory: null, emptyDirLimit: 2 * 2 ** 30 };
  return snapshotOf(collected.objects, collected.usage, { ...rest, at: Date.parse(FIXTURE_TIME) });
}
