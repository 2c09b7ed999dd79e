import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildTelemetry } from "./build.ts";
import { relabelAnswers } from "./relabel-answers.ts";

/** What libs/relabel is tested with. */
const ANSWERS = join(import.meta.dirname, "../../../libs/relabel/src/testing/relabel-answers.jsonl.gz");

const VERBS: Readonly<Record<string, () => Promise<void>>> = {
  build: async () => console.log(await buildTelemetry({ progress: (line) => console.error(line) })),
  answers: async () => writeFileSync(ANSWERS, gzipSync(await relabelAnswers(), { level: 9 })),
};

const [verb = "", ...rest] = process.argv.slice(2);
const run = rest.length === 0 ? VERBS[verb] : undefined;
if (run === undefined) {
  console.error(`Usage: node_modules/.bin/node tools/telemetry/src/main.ts <verb>

  build     build what is missing, and print the folder
  answers   write anew what Prometheus answers to the relabelling cases of libs/relabel`);
  process.exitCode = 2;
} else {
  await run();
}
