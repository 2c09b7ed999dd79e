import { isMainThread } from "node:worker_threads";
import { main } from "@evenkeel/runtime";
import { composeEvictionPlanner } from "./compose.ts";
import { evictionPlanner } from "./definition.ts";
import { answerPlan } from "./observe/worker/answer-plan.ts";

// The image has one file, so that the threads which plan run it too.
if (isMainThread) {
  await main(evictionPlanner, process, (service) => composeEvictionPlanner(service, process.env, import.meta.url));
} else {
  answerPlan();
}
