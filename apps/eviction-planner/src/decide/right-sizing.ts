import type { RightSizing } from "./answer.ts";
import { type ClusterSnapshot, type OwnerRow, UNKNOWN } from "./snapshot.ts";

/** Usage that is this many times off the request, either way, misleads the scheduler. */
const FAR = 2;
const MOST_NAMED = 20;

interface Sum {
  used: number;
  requested: number;
  pods: number;
}

/** The workloads whose requests differ most from what they use, the greatest difference in sum first. */
export function rightSizing(cluster: ClusterSnapshot): readonly RightSizing[] {
  const findings = (["cpu", "memory"] as const).flatMap((resource) => {
    const capacity = cluster.nodes.reduce((sum, { allocatable }) => sum + (allocatable[resource] ?? 0), 0);
    return [...sumsOfWorkloads(cluster, resource)]
      .filter(([, { used, requested }]) => used > FAR * requested || requested > FAR * used)
      .map(([owner, sum]) => ({ owner, resource, ...sum, share: Math.abs(sum.used - sum.requested) / capacity }));
  });
  return findings
    .sort((a, b) => b.share - a.share || (a.owner.uid < b.owner.uid ? -1 : 1))
    .slice(0, MOST_NAMED)
    .map(({ owner: { namespace, workload }, resource, used, requested, pods }) => ({
      namespace,
      workload: { kind: workload.kind, name: workload.name },
      resource,
      requested: Math.round(requested / pods),
      used: Math.round(used / pods),
      pods,
    }));
}

/** What the pods of each workload with a sample request and use; under one owner of the workload. */
function sumsOfWorkloads(
  { pods, owners, shapes }: ClusterSnapshot,
  resource: "cpu" | "memory",
): ReadonlyMap<OwnerRow, Sum> {
  const usage = resource === "cpu" ? pods.cpuUsage : pods.memoryUsage;
  const requestOf = Float64Array.from(shapes, ({ requests }) => requests[resource] ?? 0);
  const ofWorkload = new Map<string, OwnerRow>();
  const sums = new Map<OwnerRow, Sum>();
  const sumOf = owners.map((owner) => {
    const first = ofWorkload.get(owner.workload.uid) ?? owner;
    ofWorkload.set(owner.workload.uid, first);
    const sum = sums.get(first) ?? { used: 0, requested: 0, pods: 0 };
    sums.set(first, sum);
    return sum;
  });
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    const sum = sumOf[pods.owner[pod] as number];
    if (sum === undefined || usage[pod] === UNKNOWN) continue;
    sum.used += usage[pod] as number;
    sum.requested += requestOf[pods.shape[pod] as number] as number;
    sum.pods += 1;
  }
  return sums;
}
