import type { CollectorLoadBalancerSpec } from "@evenkeel/api";
import type { FleetSnapshot } from "../decide/snapshot.ts";
import { targetRefresh } from "./fleet-settings.ts";

/** Milliseconds, besides three polls. */
const LEAST_SILENCE = 120_000;

/**
 * Members that are ready and have not asked for targets for two minutes and three polls. Before this replica has
 * followed the object for as long, nothing can be said. Without jobs, collectors have nothing to ask for.
 */
export function silentCollectors(
  { at, members, collectors }: Pick<FleetSnapshot, "at" | "members" | "collectors">,
  { since, jobs }: { readonly since: number; readonly jobs: readonly unknown[] },
  lastPolls: ReadonlyMap<string, number>,
  spec: Pick<CollectorLoadBalancerSpec, "targetRefresh">,
): readonly string[] {
  const limit = LEAST_SILENCE + 3 * targetRefresh(spec);
  const before = Date.parse(at) - limit;
  if (jobs.length === 0 || since > before) return [];
  const seats = new Map(collectors.map((collector) => [collector.name, collector]));
  return members
    .filter(({ name }) => {
      const { awaySince, readySince = 0 } = seats.get(name) ?? { awaySince: 0 };
      return awaySince === null && readySince <= before && (lastPolls.get(name) ?? -Infinity) <= before;
    })
    .map(({ name }) => name);
}
