import { isMainThread } from "node:worker_threads";
import { answerPlan } from "./observe/worker/answer-plan.ts";

// The image has one file, so that the threads which plan run it too. They need little of it, and load no more.
if (isMainThread) {
  const { runEvictionPlanner } = await import("./run.ts");
  await runEvictionPlanner(import.meta.url);
} else {
  answerPlan();
}
