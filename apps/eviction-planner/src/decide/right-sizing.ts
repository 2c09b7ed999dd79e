import type { RightSizing } from "./answer.ts";
import { type ClusterSnapshot, NONE, UNKNOWN } from "./snapshot.ts";

/** Usage that is this many times off the request, either way, misleads the scheduler. */
const FAR = 2;
const MOST_NAMED = 20;

/** The workloads whose requests differ most from what they use, the greatest difference in sum first. */
export function rightSizing({ nodes, pods, owners, shapes }: ClusterSnapshot): readonly RightSizing[] {
  const sums = new Map<
    string,
    { used: number; requested: number; pods: number; owner: number; resource: "cpu" | "memory" }
  >();
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    const owner = pods.owner[pod] as number;
    const workload = owners[owner]?.workload.uid;
    if (owner === NONE || workload === undefined) continue;
    for (const resource of ["cpu", "memory"] as const) {
      const used = (resource === "cpu" ? pods.cpuUsage : pods.memoryUsage)[pod] as number;
      if (used === UNKNOWN) continue;
      const key = `${workload} ${resource}`;
      const sum = sums.get(key) ?? { used: 0, requested: 0, pods: 0, owner, resource };
      sum.used += used;
      sum.requested += shapes[pods.shape[pod] as number]?.requests[resource] ?? 0;
      sum.pods += 1;
      sums.set(key, sum);
    }
  }
  const capacity = {
    cpu: nodes.reduce((sum, { allocatable }) => sum + (allocatable["cpu"] ?? 0), 0),
    memory: nodes.reduce((sum, { allocatable }) => sum + (allocatable["memory"] ?? 0), 0),
  };
  return [...sums.values()]
    .filter(({ used, requested }) => used > FAR * requested || requested > FAR * used)
    .map((sum) => ({ ...sum, share: Math.abs(sum.used - sum.requested) / capacity[sum.resource] }))
    .sort((a, b) => b.share - a.share || a.owner - b.owner)
    .slice(0, MOST_NAMED)
    .flatMap(({ owner, resource, used, requested, pods: count }) => {
      const row = owners[owner];
      if (row === undefined) return [];
      const { namespace, workload } = row;
      const { kind, name } = workload;
      return [
        {
          namespace,
          workload: { kind, name },
          resource,
          requested: Math.round(requested / count),
          used: Math.round(used / count),
          pods: count,
        },
      ];
    });
}
