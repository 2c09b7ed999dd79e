import { parentPort, Worker, workerData } from "node:worker_threads";
import { explain } from "@evenkeel/runtime";
import type { Plan } from "../../decide/answer.ts";
import { plan } from "../../decide/plan.ts";
import type { PlanSnapshot } from "../../decide/snapshot.ts";
import { PlanFailed } from "../../errors.ts";
import { packSnapshot, type PackedSnapshot, unpackSnapshot } from "./packed-snapshot.ts";

type Answer = { readonly plan: Plan } | { readonly fault: string };

/**
 * Plans in a thread of its own, so that this one goes on serving. `program` is the address of the program's main module,
 * which calls {@link answerPlan} where it is not the main thread: image and CLI are one file each. Aborting ends the thread.
 */
export async function planInWorker(snapshot: PlanSnapshot, program: string, signal: AbortSignal): Promise<Plan> {
  const packed = await packSnapshot(snapshot);
  signal.throwIfAborted();
  const worker = new Worker(new URL(program), { workerData: packed });
  const ended = Promise.withResolvers<Answer>();
  const abort = (): void => ended.reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  worker.once("message", ended.resolve);
  worker.once("error", (error) => ended.resolve({ fault: explain(error) }));
  worker.once("exit", (code) => ended.resolve({ fault: `its thread ended with code ${code}` }));
  try {
    const answer = await ended.promise;
    if ("fault" in answer) throw new PlanFailed({ fault: answer.fault });
    return answer.plan;
  } finally {
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}

/** What the program does in a thread that {@link planInWorker} started. */
export function answerPlan(): void {
  const answer: Answer = { plan: plan(unpackSnapshot(workerData as PackedSnapshot)) };
  parentPort?.postMessage(answer);
}
