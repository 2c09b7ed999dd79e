import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ours, prometheus } from "../relabelling/contender.ts";
import { barred, figure, median, type Result } from "../result.ts";
import type { CatalogueFigures } from "./catalogue-pass.ts";

const ROUNDS = 3;

/** What discovery and relabelling cost with 100,000 targets of 42 labels, and with 1,000 jobs. */
export async function scaleFigures(progress: (line: string) => void): Promise<readonly Result[]> {
  const results = [...(await beside(progress))];
  progress("100,000 targets relabelled, beside Prometheus's library");
  const found = await catalogueFigures();
  progress("full pass, churn and jobs");
  return [
    ...results,
    figure("full pass of discovery, 100,000 targets × 42 labels", found.fullPass * 1000, "ms CPU"),
    figure("full pass: targets kept", found.kept, ""),
    figure("1 % of targets changed", found.churn * 1000, "ms CPU"),
    barred("1 % churn to a full pass", found.churn / found.fullPass, "", "<= 0.05"),
    figure("memory of discovery with 100,000 targets × 42 labels", found.residentBytes / 2 ** 20, "MiB"),
    figure("1,000 jobs that each keep two of 2,000 Services", found.fewServices * 1000, "ms CPU"),
    figure("1,000 jobs that each keep two of 20,000 Services", found.manyServices * 1000, "ms CPU"),
    barred("the same of 20,000 to 2,000 Services", found.manyServices / found.fewServices, "", "<= 3"),
    barred("watches for 1,000 jobs to those for 10", found.watchesOfMany / found.watchesOfFew, "", "<= 1"),
  ];
}

/** Rounds in alternating order, after one of each that is not counted. */
async function beside(progress: (line: string) => void): Promise<readonly Result[]> {
  await using peer = await prometheus(progress);
  await using own = await ours();
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const pair = { mine: await own.pass("ServiceMonitor"), theirs: await peer.pass("ServiceMonitor") };
    if (pair.mine.kept !== pair.theirs.kept) throw new Error("another number of targets is kept than by Prometheus");
    if (round === 0) continue;
    mine.push(pair.mine.seconds);
    theirs.push(pair.theirs.seconds);
  }
  return [
    figure("relabelling of 100,000 targets, ours", median(mine) * 1000, "ms CPU"),
    figure("relabelling of 100,000 targets, Prometheus's library, GOMAXPROCS=2", median(theirs) * 1000, "ms CPU"),
    barred("relabelling, ours to Prometheus's", median(mine) / median(theirs), "", "<= 1.5"),
  ];
}

async function catalogueFigures(): Promise<CatalogueFigures> {
  const program = join(import.meta.dirname, "catalogue-pass.ts");
  const child = spawn(process.execPath, ["--expose-gc", program], { stdio: ["ignore", "pipe", "inherit"] });
  const output = await text(child.stdout);
  if (output === "") throw new Error("catalogue-pass.ts ended without figures");
  return JSON.parse(output) as CatalogueFigures;
}
