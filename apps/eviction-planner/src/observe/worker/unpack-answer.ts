import { TimeSlice } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import type { Plan } from "../../decide/answer.ts";
import type { Answer } from "./answer-plan.ts";
import type { PackedAnswer } from "./packed-answer.ts";

/** Milliseconds of work after which other work of the event loop has its turn. */
const SLICE = 20;

export async function unpackAnswer({ answer, stays: texts }: PackedAnswer): Promise<Answer> {
  const slice = new TimeSlice(systemClock, SLICE);
  const stays: Plan["stays"][number][] = [];
  for (const text of texts) {
    stays.push(...(JSON.parse(text) as Plan["stays"]));
    if (slice.spent) await slice.rest();
  }
  return { ...answer, plan: { ...answer.plan, stays } };
}
