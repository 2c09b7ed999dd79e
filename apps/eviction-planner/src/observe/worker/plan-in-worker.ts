import { Worker } from "node:worker_threads";
import { explain } from "@evenkeel/runtime";
import type { Plan } from "../../decide/answer.ts";
import type { PlanSnapshot } from "../../decide/snapshot.ts";
import { PlanFailed } from "../../errors.ts";
import type { Answer, FurtherQuestions, Question } from "./answer-plan.ts";
import { packSnapshot } from "./pack-snapshot.ts";
import type { PackedAnswer } from "./packed-answer.ts";
import { unpackAnswer } from "./unpack-answer.ts";

/**
 * Plans in a thread of its own, so that this one goes on serving. `program` is the address of the program's main
 * module, which calls `answerPlan` where it is not the main thread: image and CLI are one file each. Aborting ends the
 * thread.
 */
export async function planInWorker(snapshot: PlanSnapshot, program: string, signal: AbortSignal): Promise<Plan> {
  return (await studyInWorker(snapshot, { prices: false, band: null }, program, signal)).plan;
}

/** As {@link planInWorker}, with answers to further questions. */
export async function studyInWorker(
  snapshot: PlanSnapshot,
  further: FurtherQuestions,
  program: string,
  signal: AbortSignal,
): Promise<Answer> {
  const question: Question = { snapshot: await packSnapshot(snapshot), ...further };
  signal.throwIfAborted();
  const worker = new Worker(new URL(program), { workerData: question });
  const ended = Promise.withResolvers<PackedAnswer | { readonly fault: string }>();
  const abort = (): void => ended.reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  worker.once("message", ended.resolve);
  worker.once("error", (error) => ended.resolve({ fault: explain(error) }));
  worker.once("exit", (code) => ended.resolve({ fault: `its thread ended with code ${code}` }));
  try {
    const answer = await ended.promise;
    if ("fault" in answer) throw new PlanFailed({ fault: answer.fault });
    return await unpackAnswer(answer);
  } finally {
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
