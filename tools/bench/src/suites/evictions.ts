import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { measureRivalry } from "../evictions/rivalry/rivalry.ts";
import type { Ingest } from "../evictions/ingest.ts";
import type { Planning } from "../evictions/planning.ts";
import { barred, figure, median, type Result, updated } from "../result.ts";
import type { Outcome, Suite } from "../suite.ts";

/** As the chart starts Node. */
const IMAGE_FLAGS = ["--max-semi-space-size=1", "--v8-pool-size=1"];
const LARGEST = 5_000;
const SIZES = [100, 316, 1_000, 2_236, LARGEST];
const ROUNDS = 5;
const MOVES = 1_000;

const root = join(import.meta.dirname, "../../../..");
const programs = join(import.meta.dirname, "../evictions");
const worker = pathToFileURL(join(root, "apps/eviction-planner/src/testing/plan-worker.ts")).href;

function start(program: string, args: readonly string[], flags: readonly string[] = []) {
  const all = [...flags, join(programs, program), ...args];
  return spawn(process.execPath, all, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Runs a program with the flags of the image, and gives what it printed. */
async function answerOf<T>(program: string, ...args: readonly string[]): Promise<T> {
  const child = start(program, args, IMAGE_FLAGS);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with code ${code}`);
  return JSON.parse(output) as T;
}

function planning(nodes: number, moves: number): Promise<Planning> {
  return answerOf("planning.ts", String(nodes), String(moves), String(ROUNDS));
}

/** A plan of a cluster that is read from an API server, as the service makes it. */
async function ingest(nodes: number): Promise<Ingest> {
  const server = start("cluster-server.ts", [String(nodes)]);
  try {
    const [port] = (await once(server.stdout, "data")) as [Buffer];
    return await answerOf("ingest.ts", `http://127.0.0.1:${port.toString().trim()}`, String(MOVES), worker);
  } finally {
    server.kill();
  }
}

/** What PART selects; all parts unless it is set. */
const PARTS: Readonly<Record<string, (progress: (line: string) => void) => Promise<Outcome>>> = {
  planning: measurePlanning,
  descheduler: (progress) => measureRivalry(progress),
};

export const evictions: Suite = {
  name: "evictions",
  about:
    "plans for 100 to 5,000 nodes (CPU time, stalls, memory); evictions to the same σ as descheduler on a real cluster; PART=planning|descheduler measures one, and CASE=equal|uniform|lognormal|deletion|usage one case of descheduler; figures of the others stay as recorded",
  async run(progress) {
    const selected = process.env["PART"];
    const outcomes: Outcome[] = [];
    for (const [name, measure] of Object.entries(PARTS)) {
      if (selected === undefined || selected === name) outcomes.push(await measure(progress));
    }
    const last = outcomes.at(-1);
    if (last === undefined) throw new Error(`PART is one of ${Object.keys(PARTS).join(", ")}`);
    const results = outcomes.flatMap((outcome) => outcome.results);
    const isPart = selected !== undefined || process.env["CASE"] !== undefined;
    return { results: isPart ? updated(recorded(), results) : results, plot: last.plot };
  },
};

/** The figures of record, which a run of one part leaves as they are. */
function recorded(): readonly Result[] {
  const file = join(root, "docs/benchmarks/evictions.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Result[]) : [];
}

/** How long a plan for a large cluster takes, and how that grows with the cluster. */
async function measurePlanning(progress: (line: string) => void): Promise<Outcome> {
  const rows: { readonly size: number; readonly found: Planning }[] = [];
  for (const size of SIZES) {
    rows.push({ size, found: await planning(size, Math.round((MOVES * size) / LARGEST)) });
    progress(`${size} nodes`);
  }
  const largest = rows.at(-1)?.found;
  if (largest === undefined) throw new Error("unreachable: there are sizes");
  const read = await ingest(LARGEST);
  progress(`${read.pods} pods and their usage read from an API server`);
  const series = rows.map(({ size, found: { plans } }) => {
    return { name: `${size} nodes`, values: plans, middle: median(plans) };
  });
  return { results: results(rows, largest, read), plot: { title: "CPU time of one plan", unit: "ms", series } };
}

function results(
  rows: readonly { readonly size: number; readonly found: Planning }[],
  { plans, bounds, moves, sigma }: Planning,
  { stall, peakRss }: Ingest,
): Result[] {
  return [
    ...rows.map(({ size, found }) => figure(`plan, ${size} nodes`, median(found.plans), "ms CPU")),
    figure("growth: exponent of nodes and moves together", exponent(rows), ""),
    figure("evictions of the largest plan", moves, ""),
    figure("σ before", sigma.before, ""),
    figure("σ predicted", sigma.predicted, ""),
    figure("σ that no plan can beat", sigma.bound, ""),
    barred("plan, 5,000 nodes, 150,000 pods, 2,000 budgets", median(plans) / 1000, "s CPU", "<= 2"),
    barred("bound, 5,000 nodes", median(bounds) / 1000, "s CPU", "<= 1"),
    barred("longest stall while the cluster is read and a worker plans", stall, "ms CPU", "<= 200"),
    barred("peak memory, cluster, usage and plan", peakRss / 1e9, "GB", "<= 1"),
  ];
}

/** The slope of time over size, both as logarithms: 1 is linear. */
function exponent(rows: readonly { readonly size: number; readonly found: Planning }[]): number {
  const points = rows.map(({ size, found }) => [Math.log(size), Math.log(median(found.plans))] as const);
  const mean = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return covariance / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}
