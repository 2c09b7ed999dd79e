import { parseClusterScore } from "@evenkeel/api";
import { isPaused } from "@evenkeel/kube";
import { type ObjectBoard, objectView } from "@evenkeel/operator";
import type { scoresV1 } from "@evenkeel/rpc";
import type { DecisionOf } from "@evenkeel/runtime";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import type { proxyDecider } from "../decide/proxy-decider.ts";
import type { Room } from "../decide/standing.ts";
import type { Member } from "../members/member.ts";

export type ScoreView = scoresV1.DeepPartial<scoresV1.ClusterScore>;

/** What the leader shows of a member is the last decision; the rest every replica reads from the status. */
export type ShownScore = DecisionOf<typeof proxyDecider>;

export type ScoreBoard = ObjectBoard<StoredClusterScore, ShownScore, ScoreView>;

/** What readers see of a member. `memberOf` judges its age by this replica's clock. */
export function scoreView(memberOf: (name: string) => Member | undefined) {
  return (object: StoredClusterScore, shown: ShownScore | undefined): ScoreView => {
    const { status = {} } = object;
    const { name, reason = "", message = "", conditions = [], decidedAt, dryRun = false } = objectView(object, shown);
    const member = memberOf(object.metadata.name ?? "");
    const parsed = parseClusterScore(object);
    const score = member?.score;
    return {
      ...{ name, reason, message, conditions, dryRun, paused: isPaused(object) },
      ...(decidedAt !== undefined && { decidedAt }),
      own: member?.own ?? false,
      standing: member?.standing ?? "Unscored",
      region: (parsed.ok && parsed.value.spec.region) || "",
      endpoint: member?.endpoint ?? "",
      ...(score && { score: BigInt(score.score), source: score.source, ageSeconds: score.age / 1000 }),
      ...(status.score !== undefined && { ownScore: BigInt(status.score), ownSource: status.source ?? "watts" }),
      ...(status.free && { free: roomOf(status.free) }),
      ...(status.whole && { whole: roomOf(status.whole) }),
      ...(status.marginalWatts !== undefined && { marginalWatts: status.marginalWatts }),
      nodes: (status.nodes ?? []).map((node) => ({ name: node.name, score: BigInt(node.score) })),
      ...(status.failedNodes !== undefined && { failedNodes: BigInt(status.failedNodes) }),
      ...(status.latencyMilliseconds !== undefined && { latencySeconds: status.latencyMilliseconds / 1000 }),
      serverVersion: status.serverVersion ?? "",
      clusterUid: status.clusterUid ?? "",
    };
  };
}

function roomOf({ cpu, memory, pods }: Room) {
  return { cpu: BigInt(cpu), memory: BigInt(memory), pods: BigInt(pods) };
}
