import type { evictionsV1 } from "@evenkeel/rpc";
import { holdSentence } from "../decide/explain.ts";
import { OBSTACLES } from "../decide/obstacles.ts";
import type { Answer } from "../observe/worker/answer-plan.ts";
import { moveView } from "./plan-view.ts";

type Verdict = evictionsV1.DeepPartial<evictionsV1.PodVerdict>;

/** What the plan of one policy does with a pod. The answer must explain the pod. */
export function verdictOn(policy: string, pod: string, { plan, explanation }: Answer): Verdict {
  const { nodeLevel = null, nodeIsHot = false, move = null, holds = [], node = null } = explanation ?? {};
  const about = {
    ...{ policy, nodeIsHot, ...(nodeLevel !== null && { nodeLevel }) },
    ...(move !== null && { move: moveView(move) }),
    holds: holds.map(({ code, by }) => ({ reason: code, by: by ?? "", sentence: OBSTACLES[code] })),
  };
  if (plan.outcome === "InvalidPolicy") {
    return { ...about, message: plan.faults.map(({ field, message }) => `${field}: ${message}`).join("; ") };
  }
  const [first] = holds;
  if (move === null) {
    const why = first === undefined ? "nothing asks for its eviction" : holdSentence(first);
    return { ...about, message: `${pod} stays on ${node ?? "no node"}: ${why}` };
  }
  const place = move.landings[0];
  const landing = place === undefined ? "" : `, probably to ${place.node} (${Math.round(place.probability * 100)} %)`;
  return { ...about, message: `${pod} would be evicted from ${move.from}${landing}` };
}

interface Judged {
  readonly node: string;
  readonly verdict: Verdict;
}

/** The answer about a pod. A policy that evicts the pod says most, then one that selects it. */
export function explanationOf(
  pod: string,
  judged: readonly Judged[],
): evictionsV1.DeepPartial<evictionsV1.ExplainResponse> {
  const verdicts = judged.map(({ verdict }) => verdict);
  const evicting = verdicts.find(({ move }) => move !== undefined);
  const selecting = verdicts.find(({ holds }) => !holds?.some(({ reason }) => reason === "NotSelected"));
  const said = evicting ?? selecting ?? verdicts[0];
  const message = said === undefined ? `${pod} stays: no RebalancePolicy exists` : `${said.message} (${said.policy})`;
  return { message, node: judged[0]?.node ?? "", verdicts };
}
