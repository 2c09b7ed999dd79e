import { type Decisions, snapshotText } from "@evenkeel/runtime";
import type { proxyDecider } from "../decide/proxy-decider.ts";
import type { AnswersOptions } from "./options.ts";

/**
 * Records splits as decisions. A write that changes parts is news although it may end at the parts of the last one: the
 * workload was deleted since, or somebody else changed it. A write that changes none repeats the last.
 */
export function recordedSplits(
  decisions: Pick<Decisions<typeof proxyDecider>, "forget" | "record">,
): AnswersOptions["record"] {
  return (verdict, snapshot) => {
    if (verdict.action === "split") decisions.forget(verdict.object);
    decisions.record(verdict, snapshot.at, () => snapshotText(snapshot));
  };
}
