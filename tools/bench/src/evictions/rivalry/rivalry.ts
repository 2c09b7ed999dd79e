import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Outcome } from "../../suite.ts";
import { type CaseRuns, runCase } from "./case.ts";
import { buildDescheduler } from "./descheduler.ts";
import { caseFigures, casePlot } from "./figures.ts";
import { Stage } from "./stage.ts";
import { type Extent, sceneOf, type Sizes } from "./workload.ts";

type Progress = (line: string) => void;

/** 1,500 pods on the first 50 nodes. */
const EXTENT: Extent = { nodes: 100, workloads: 60 };
/** 600 pods on the first 20 nodes, for cases that differ in something other than sizes. */
const SMALL: Extent = { nodes: 40, workloads: 24 };

/** Percent around the mean. Where descheduler stops, the nodes are that level. */
const BANDS: readonly number[] = [5, 10, 20];
const MIDDLE_BAND = 10;

/** Milliseconds for which an evicted pod stays on its node where deletion is slow. */
const SLOW_DELETION = 30_000;

/**
 * The highest share of descheduler's evictions that the planner may need. With equal sizes no pod is a better choice
 * than another.
 */
const MOST_OF_RIVAL = { equal: 1.02, uniform: 0.8, lognormal: 0.6, usage: 0.6 } as const;

const NAMESPACED = join(import.meta.dirname, "../../../../e2e/in-namespace.sh");

/** What CASE selects; all cases unless it is set. */
const CASES: Readonly<Record<string, (descheduler: string, progress: Progress) => Promise<readonly Compared[]>>> = {
  equal: (descheduler, progress) => compareSizes("equal", descheduler, progress),
  uniform: (descheduler, progress) => compareSizes("uniform", descheduler, progress),
  lognormal: (descheduler, progress) => compareSizes("lognormal", descheduler, progress),
  deletion: compareSlowDeletion,
  usage: compareUsage,
};

interface Compared {
  readonly runs: CaseRuns;
  readonly mostOfRival: number;
}

/**
 * The planner against descheduler on a real control plane: evictions, and how level the nodes are when all replacements
 * run. Both begin with the same pods on the same nodes.
 */
export async function measureRivalry(progress: Progress): Promise<Outcome> {
  const descheduler = await buildDescheduler(progress);
  const selected = process.env["CASE"];
  const compared: Compared[] = [];
  for (const [name, compare] of Object.entries(CASES)) {
    if (selected === undefined || selected === name) compared.push(...(await compare(descheduler, progress)));
  }
  const plotted = compared.find(({ runs }) => runs.name === caseName("lognormal")) ?? compared[0];
  if (plotted === undefined) throw new Error(`CASE is one of ${Object.keys(CASES).join(", ")}`);
  return {
    results: compared.flatMap(({ runs, mostOfRival }) => caseFigures(runs, mostOfRival)),
    plot: casePlot(plotted.runs),
  };
}

async function compareSizes(sizes: Sizes, descheduler: string, progress: Progress): Promise<readonly Compared[]> {
  await using stage = await Stage.start(EXTENT, progress);
  const question = { name: caseName(sizes), scene: sceneOf(sizes, EXTENT), basis: "requests" as const };
  const runs = await runCase(question, { stage, descheduler, bands: BANDS, progress });
  return [{ runs, mostOfRival: MOST_OF_RIVAL[sizes] }];
}

/** Both look at the cluster again as soon as all replacements run, while evicted pods are still terminating. */
async function compareSlowDeletion(descheduler: string, progress: Progress): Promise<readonly Compared[]> {
  await using stage = await Stage.start({ nodes: SMALL.nodes, deletionMs: SLOW_DELETION }, progress);
  const name = "deletion after 30 s, cycles without a pause";
  const question = { name, scene: sceneOf("uniform", SMALL), basis: "requests" as const, isEmulated: false };
  const runs = await runCase(question, { stage, descheduler, bands: [MIDDLE_BAND], progress });
  return [{ runs, mostOfRival: MOST_OF_RIVAL.uniform }];
}

/** In a process of its own, whose network reaches from kube-apiserver to the metrics server of the case. */
async function compareUsage(descheduler: string, progress: Progress): Promise<readonly Compared[]> {
  const program = join(import.meta.dirname, "usage-case.ts");
  const args = [descheduler, SMALL.nodes, SMALL.workloads, MIDDLE_BAND].map(String);
  const child = spawn(NAMESPACED, [process.execPath, program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  createInterface({ input: child.stderr }).on("line", progress);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`the case with usage unlike requests ended with code ${code}`);
  return [{ runs: JSON.parse(output) as CaseRuns, mostOfRival: MOST_OF_RIVAL.usage }];
}

function caseName(sizes: Sizes): string {
  return `${sizes} sizes`;
}
