#!/usr/bin/env node
import { run } from "./command-line.ts";
import { registrations } from "./services/index.ts";

// The reader of the output may stop before its end, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
const code = await run(process, registrations);
process.stdout.write("", () => process.exit(code));
