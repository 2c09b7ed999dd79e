#!/usr/bin/env node
import { isMainThread } from "node:worker_threads";
import { answerPlan } from "@evenkeel/eviction-planner/observe";
import { run } from "./command-line.ts";
import { registrations } from "./services/index.ts";

// The program is one file, so that the threads which plan run it too.
if (isMainThread) {
  // The reader of the output may stop before its end, as `head` does.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  const code = await run(process, registrations, import.meta.url);
  process.stdout.write("", () => process.exit(code));
} else {
  answerPlan();
}
