import { parseArgs } from "node:util";
import { megabytes, soak } from "./soak.ts";
import { faultsOf, growthOf, heapIn, percent } from "./verdict.ts";

const usage = "Usage: make soak [ARGS=--minutes=10]";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(usage);
  process.exit(2);
}

const outcome = await soak({ minutes, random: Math.random, tell: (line) => console.log(line) });
const { heap, replays, decisions, warnings } = outcome;
const [third, last] = [heapIn(heap, minutes, 3) ?? NaN, heapIn(heap, minutes, 10) ?? NaN];
console.log(
  `\nheap ${megabytes(third)} in the third tenth, ${megabytes(last)} in the last: ${percent(growthOf(heap, minutes) ?? NaN)}` +
    `\n${decisions} decisions; of ${replays.length} snapshots, ${replays.filter(({ same }) => same).length} replay to the same decision` +
    `\n${warnings} warnings in the log`,
);
const faults = faultsOf(outcome);
for (const fault of faults) console.log(`FAILED  ${fault}`);
if (faults.length === 0) console.log("ok");
process.exitCode = faults.length === 0 ? 0 : 1;
